// SPDX-License-Identifier: Apache-2.0
#include "cli/standalone.h"

#include "base/cleanup.h"
#include "base/io.h"
#include "base/memory.h"
#include "base/rdma_port.h"
#include "transport/tcp/connector.h"

#include <signal.h>
#include <stdio.h>
#include <sys/signalfd.h>

#define NOT_WRITTEN "the other side did not write all of the tree (see its error message)"
#define SHORT_KEY_WARNING                                                                                              \
  "a key this short can be guessed from a recording of the connection (without KEY, rdrecv generates a strong one)"

static void choose_transports(struct rd_standalone *standalone);
static bool open_signals(struct rd_standalone *standalone, struct rd_error *error);
static bool fork_command(struct rd_standalone *standalone, struct rd_error *error);
static struct pollfd poll_signals(const struct rd_control *control);
static bool next_command(struct rd_control *control, struct rd_command *command);
static void read_signals(struct rd_standalone *standalone);
static bool command_abort(struct rd_standalone *standalone, struct rd_command *command);
static bool command_of_step(struct rd_standalone *standalone, struct rd_command *command);
static void command_open(const struct rd_standalone *standalone, struct rd_command *command);
static void command_ring(struct rd_standalone *standalone, struct rd_command *command);
static void command_file(const struct rd_standalone *standalone, struct rd_command *command);
static bool command_ready(struct rd_standalone *standalone, struct rd_command *command);
static void handle_event(struct rd_control *control, const struct rd_event *event);
static void on_finished(struct rd_standalone *standalone, enum rd_code code);
static int exit_status(struct rd_standalone *standalone, enum rd_code code);
static _Noreturn void die_of_signal(int signal);

static const struct rd_control_ops control_ops = {poll_signals, next_command, handle_event};

struct rd_control *rd_standalone_create(const struct rd_standalone_ops *ops, const struct rd_options *options,
                                        const unsigned char key[RD_KEY_BYTES], struct rd_error *error) {
  struct rd_standalone *standalone = rd_memory_new(1, sizeof *standalone);
  standalone->control = (struct rd_control){.ops = &control_ops, .due = true};
  standalone->ops = ops;
  standalone->options = options;
  standalone->key = key;
  standalone->child = RD_NO_CHILD;
  standalone->watchdog = RD_NO_WATCHDOG;
  standalone->signal_fd = -1;
  standalone->tree = RD_NO_TREE_PROGRAM;
  rd_display_init(&standalone->display, options);
  if (options->key_is_short && !options->quiet) rd_display_line(&standalone->display, SHORT_KEY_WARNING);
  const char *bind_host = options->settings.bind_host;
  choose_transports(standalone);
  if ((bind_host[0] == '\0' || rd_tcp_is_here(bind_host, error)) && open_signals(standalone, error) &&
      fork_command(standalone, error))
    return &standalone->control;
  rd_standalone_destroy(&standalone->control);
  return NULL;
}

void rd_standalone_destroy(struct rd_control *control) {
  struct rd_standalone *standalone = (struct rd_standalone *)control;
  if (standalone == NULL) return;
  rd_child_forget(&standalone->child);
  rd_watchdog_release(&standalone->watchdog);
  rd_tree_program_close(&standalone->tree);
  rd_cleanup_fd(&standalone->signal_fd);
  rd_cleanup_fd(&standalone->child.pipe_fd);
  free(standalone);
}

pid_t rd_standalone_command(const struct rd_control *control) {
  return ((const struct rd_standalone *)control)->child.pid;
}

int rd_standalone_end(struct rd_control *control, enum rd_code code) {
  struct rd_standalone *standalone = (struct rd_standalone *)control;
  // Order matters: SIGCHLD is read before the exit is checked, so that no exit is missed.
  for (;;) {
    read_signals(standalone);
    if (standalone->signal != 0) rd_child_signal(&standalone->child, SIGKILL);
    if (standalone->child.pid <= 0 || rd_child_has_exited(&standalone->child)) return exit_status(standalone, code);
    rd_wait_fd(standalone->signal_fd, POLLIN, -1);
  }
}

bool rd_standalone_is_tree(const struct rd_standalone *standalone) {
  return standalone->tree.settings_fd >= 0;
}

// Without an active RDMA port, auto does not open any RDMA library.
static void choose_transports(struct rd_standalone *standalone) {
  enum rd_transport_choice choice = standalone->options->transport;
  standalone->over_tcp = choice != RD_TRANSPORT_RDMA;
  standalone->over_rdma =
      choice == RD_TRANSPORT_RDMA || (choice == RD_TRANSPORT_AUTO && rd_rdma_port_is_active(RD_RDMA_DIRECTORY));
}

static bool open_signals(struct rd_standalone *standalone, struct rd_error *error) {
  static const int ends[] = {SIGINT, SIGTERM, SIGHUP};
  sigset_t set;
  sigemptyset(&set);
  sigaddset(&set, SIGCHLD);
  for (size_t i = 0; i < sizeof ends / sizeof ends[0]; i++) {
    struct sigaction action;
    sigaction(ends[i], NULL, &action);
    if (action.sa_handler != SIG_IGN) sigaddset(&set, ends[i]); // ignored with nohup
  }
  sigprocmask(SIG_BLOCK, &set, NULL);
  standalone->signal_fd = signalfd(-1, &set, SFD_CLOEXEC | SFD_NONBLOCK);
  if (standalone->signal_fd < 0) rd_error_set_errno(error, RD_CODE_INTERNAL, "cannot watch for signals");
  return standalone->signal_fd >= 0;
}

// Call first: the process must not fork once a device is open.
static bool fork_command(struct rd_standalone *standalone, struct rd_error *error) {
  const struct rd_options *options = standalone->options;
  if (!rd_tree_program_open(&standalone->tree, options, error)) return false;
  standalone->command = rd_standalone_is_tree(standalone) ? standalone->tree.command : options->command;
  if (standalone->command == NULL) return true;
  bool is_sender = options->role == RD_ROLE_SENDER;
  int fds[] = {standalone->tree.settings_fd, standalone->tree.ring.memory, standalone->tree.ring.bell};
  size_t fd_count = rd_standalone_is_tree(standalone) ? sizeof fds / sizeof *fds : 0;
  bool is_forked = rd_child_fork(&standalone->child, standalone->command, is_sender, fds, fd_count, error);
  rd_tree_program_forked(&standalone->tree);
  return is_forked && rd_watchdog_start(&standalone->watchdog, standalone->child.pid,
                                        is_sender ? -1 : standalone->child.pipe_fd, error);
}

static struct pollfd poll_signals(const struct rd_control *control) {
  return (struct pollfd){.fd = ((const struct rd_standalone *)control)->signal_fd, .events = POLLIN};
}

static bool next_command(struct rd_control *control, struct rd_command *command) {
  struct rd_standalone *standalone = (struct rd_standalone *)control;
  if (!control->due) return false;
  read_signals(standalone);
  *command = (struct rd_command){.fd = -1};
  if (standalone->release_due) {
    standalone->release_due = false;
    command->type = RD_COMMAND_RELEASE;
    return true;
  }
  control->due = command_abort(standalone, command) ||
                 (standalone->ops->after_exit != NULL && standalone->ops->after_exit(standalone, command)) ||
                 command_of_step(standalone, command);
  return control->due;
}

static void read_signals(struct rd_standalone *standalone) {
  struct signalfd_siginfo info;
  while (read(standalone->signal_fd, &info, sizeof info) == (ssize_t)sizeof info) {
    if (info.ssi_signo == SIGCHLD || standalone->signal != 0) continue;
    standalone->signal = (int)info.ssi_signo;
    rd_error_set(&standalone->failure, RD_CODE_ABORTED, "ended by SIG%s", sigabbrev_np(standalone->signal));
  }
}

static bool command_abort(struct rd_standalone *standalone, struct rd_command *command) {
  if (standalone->failure.code == RD_CODE_OK) return false;
  command->type = RD_COMMAND_ABORT;
  command->code = standalone->failure.code;
  snprintf(command->reason, sizeof command->reason, "%s", standalone->failure.message);
  standalone->failure.code = RD_CODE_OK;
  return true;
}

static bool command_of_step(struct rd_standalone *standalone, struct rd_command *command) {
  bool has_command = standalone->command != NULL;
  switch (standalone->step) {
  case RD_STEP_OPEN:
    // a command starts only after there is a connection
    standalone->step = rd_standalone_is_tree(standalone) ? RD_STEP_RING : has_command ? RD_STEP_CONNECT : RD_STEP_FILE;
    command_open(standalone, command);
    return true;
  case RD_STEP_RING:
    standalone->step = RD_STEP_CONNECT;
    command_ring(standalone, command);
    return true;
  case RD_STEP_FILE:
    standalone->step = RD_STEP_CONNECT;
    command_file(standalone, command);
    return true;
  case RD_STEP_CONNECT:
    if (standalone->ops->connect(standalone, command)) return true;
    standalone->step = RD_STEP_COMMAND;
    return command_of_step(standalone, command);
  case RD_STEP_COMMAND:
    if (has_command) return standalone->connected && command_ready(standalone, command);
    standalone->step = RD_STEP_COMMIT;
    return command_of_step(standalone, command);
  case RD_STEP_COMMIT:
    standalone->step = RD_STEP_DONE;
    command->type = RD_COMMAND_COMMIT;
    return standalone->options->role == RD_ROLE_SENDER;
  case RD_STEP_DONE:
    break;
  }
  return false;
}

static void command_open(const struct rd_standalone *standalone, struct rd_command *command) {
  command->type = RD_COMMAND_OPEN;
  command->settings = standalone->options->settings;
  command->settings.port_low = command->settings.port_high = standalone->options->port;
  command->settings.rdma_first = standalone->over_rdma;
  memcpy(command->settings.key, standalone->key, RD_KEY_BYTES);
}

// Hands over this side of the ring.
static void command_ring(struct rd_standalone *standalone, struct rd_command *command) {
  command->type = RD_COMMAND_RING;
  command->ring_fds = standalone->tree.ours;
  standalone->tree.ours = RD_NO_RING_FDS;
}

static void command_file(const struct rd_standalone *standalone, struct rd_command *command) {
  const char *file = standalone->options->file;
  command->type = file != NULL ? RD_COMMAND_FILE : RD_COMMAND_READY;
  command->fd = standalone->options->role == RD_ROLE_SENDER ? STDIN_FILENO : STDOUT_FILENO;
  snprintf(command->path, sizeof command->path, "%s", file != NULL ? file : "");
}

static bool command_ready(struct rd_standalone *standalone, struct rd_command *command) {
  standalone->step = RD_STEP_DONE;
  if (!rd_child_run(&standalone->child, &standalone->failure)) return command_abort(standalone, command);
  command->type = RD_COMMAND_READY;
  command->fd = standalone->child.pipe_fd;
  return true;
}

static void handle_event(struct rd_control *control, const struct rd_event *event) {
  struct rd_standalone *standalone = (struct rd_standalone *)control;
  control->due = true;
  if (event->type == RD_EVENT_DIAL_FAILED) standalone->failure = *event->error;
  if (event->type == RD_EVENT_LISTENING || event->type == RD_EVENT_LISTEN_FAILED) {
    if (standalone->ops->listening != NULL) standalone->ops->listening(standalone, event);
    return;
  }
  if (event->type == RD_EVENT_CONNECTED) standalone->connected = true;
  if (event->type == RD_EVENT_END) rd_watchdog_release(&standalone->watchdog);
  if (event->type == RD_EVENT_FINISHED) on_finished(standalone, event->error->code);
  rd_display_event(&standalone->display, event);
}

static void on_finished(struct rd_standalone *standalone, enum rd_code code) {
  rd_child_forget(&standalone->child);
  standalone->ops->end_command(standalone, code);
  rd_watchdog_release(&standalone->watchdog);
  standalone->release_due = true;
}

// Returns the command's own status, unless the run failed for another reason.
static int exit_status(struct rd_standalone *standalone, enum rd_code code) {
  int status;
  if (standalone->signal != 0) die_of_signal(standalone->signal);
  if (standalone->ops->command_status(standalone, code, &status)) return status;
  if (code == RD_CODE_CLOSED && rd_standalone_is_tree(standalone)) {
    rd_display_line(&standalone->display, NOT_WRITTEN);
    code = RD_CODE_ABORTED;
  }
  if (code == RD_CODE_CLOSED) die_of_signal(SIGPIPE);
  return rd_code_status(code);
}

static _Noreturn void die_of_signal(int signal_number) {
  sigset_t set;
  sigemptyset(&set);
  sigaddset(&set, signal_number);
  signal(signal_number, SIG_DFL);
  raise(signal_number);
  sigprocmask(SIG_UNBLOCK, &set, NULL);
  _exit(128 + signal_number);
}
