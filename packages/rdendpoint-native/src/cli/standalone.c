// SPDX-License-Identifier: Apache-2.0
#include "cli/standalone.h"

#include "base/cleanup.h"
#include "base/io.h"
#include "base/memory.h"
#include "base/rdma_port.h"
#include "cli/child.h"
#include "cli/display.h"
#include "cli/tree_program.h"
#include "cli/watchdog.h"
#include "transport/tcp/connector.h"

#include <signal.h>
#include <stdio.h>
#include <sys/signalfd.h>

#define TREE_END_MS 5000 // for rdtree to remove its temporary files
#define PRODUCER_MS 1000 // from the end of its reader to its own
#define KILL_MS 10000
#define NOT_WRITTEN "the other side did not write all of the tree: see its message"
#define SHORT_KEY_WARNING                                                                                              \
  "a key this short can be guessed from a recording of the connection: rdrecv without KEY generates a strong one"

// The next command for the loop, in this order.
enum step { STEP_OPEN, STEP_FILE, STEP_CONNECT, STEP_LISTEN_TOO, STEP_COMMAND, STEP_COMMIT, STEP_DONE };

struct standalone {
  struct rd_control control;
  const struct rd_options *options;
  struct rd_tree_program tree;
  char *const *command; // the user's, or rdtree; NULL: none
  const unsigned char *key;
  struct rd_key_offer *offer;
  struct rd_display display;
  enum step step;
  bool over_rdma, over_tcp; // the transports to try
  uint16_t port;            // the free port of the first listener, for the second one; 0: none
  bool connected;
  struct rd_child child;
  struct rd_watchdog watchdog; // of the child
  bool exit_reported;          // the loop has a command for its exit
  int signal_fd;
  int signal;              // it ended the run; 0: none
  struct rd_error failure; // for the next RD_COMMAND_ABORT
  bool release_due;
};

static void choose_transports(struct standalone *standalone);
static bool open_signals(struct standalone *standalone, struct rd_error *error);
static bool fork_command(struct standalone *standalone, struct rd_error *error);
static bool is_tree(const struct standalone *standalone);
static struct pollfd poll_signals(const struct rd_control *control);
static bool next_command(struct rd_control *control, struct rd_command *command);
static void read_signals(struct standalone *standalone);
static bool command_abort(struct standalone *standalone, struct rd_command *command);
static bool command_after_exit(struct standalone *standalone, struct rd_command *command);
static bool command_of_step(struct standalone *standalone, struct rd_command *command);
static void command_open(const struct standalone *standalone, struct rd_command *command);
static void command_file(const struct standalone *standalone, struct rd_command *command);
static void command_dial(const struct standalone *standalone, struct rd_command *command);
static void command_listen(const struct standalone *standalone, struct rd_command *command, bool is_first);
static bool command_ready(struct standalone *standalone, struct rd_command *command);
static void handle_event(struct rd_control *control, const struct rd_event *event);
static void on_listening(struct standalone *standalone, const struct rd_event *event);
static void on_finished(struct standalone *standalone, enum rd_code code);
static void end_producer(struct standalone *standalone);
static int exit_status(struct standalone *standalone, enum rd_code code);
static bool is_whole(const struct standalone *standalone);
static int consumer_status(struct standalone *standalone);
static _Noreturn void die_of_signal(int signal);

static const struct rd_control_ops standalone_ops = {poll_signals, next_command, handle_event};

struct rd_control *rd_standalone_create(const struct rd_options *options, const unsigned char key[RD_KEY_BYTES],
                                        struct rd_key_offer *offer, struct rd_error *error) {
  struct standalone *standalone = rd_memory_new(1, sizeof *standalone);
  standalone->control = (struct rd_control){.ops = &standalone_ops, .due = true};
  standalone->options = options;
  standalone->key = key;
  standalone->offer = offer;
  standalone->child = RD_NO_CHILD;
  standalone->watchdog = RD_NO_WATCHDOG;
  standalone->signal_fd = -1;
  standalone->tree.settings_fd = -1;
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
  struct standalone *standalone = (struct standalone *)control;
  if (standalone == NULL) return;
  rd_child_forget(&standalone->child);
  rd_watchdog_release(&standalone->watchdog);
  rd_tree_program_close(&standalone->tree);
  rd_cleanup_fd(&standalone->signal_fd);
  rd_cleanup_fd(&standalone->child.pipe_fd);
  free(standalone);
}

pid_t rd_standalone_command(const struct rd_control *control) {
  return ((const struct standalone *)control)->child.pid;
}

int rd_standalone_end(struct rd_control *control, enum rd_code code) {
  struct standalone *standalone = (struct standalone *)control;
  // In this order: SIGCHLD is read before the exit is checked, so that no exit is missed.
  for (;;) {
    read_signals(standalone);
    if (standalone->signal != 0) rd_child_signal(&standalone->child, SIGKILL);
    if (standalone->child.pid <= 0 || rd_child_has_exited(&standalone->child)) return exit_status(standalone, code);
    rd_wait_fd(standalone->signal_fd, POLLIN, -1);
  }
}

// Without an active RDMA port no RDMA library is opened.
static void choose_transports(struct standalone *standalone) {
  enum rd_transport_choice choice = standalone->options->transport;
  standalone->over_tcp = choice != RD_TRANSPORT_RDMA;
  standalone->over_rdma =
      choice == RD_TRANSPORT_RDMA || (choice == RD_TRANSPORT_AUTO && rd_rdma_port_is_active(RD_RDMA_FOLDER));
}

static bool open_signals(struct standalone *standalone, struct rd_error *error) {
  static const int ends[] = {SIGINT, SIGTERM, SIGHUP};
  sigset_t set;
  sigemptyset(&set);
  sigaddset(&set, SIGCHLD);
  for (size_t i = 0; i < sizeof ends / sizeof ends[0]; i++) {
    struct sigaction action;
    sigaction(ends[i], NULL, &action);
    if (action.sa_handler != SIG_IGN) sigaddset(&set, ends[i]); // nohup
  }
  sigprocmask(SIG_BLOCK, &set, NULL);
  standalone->signal_fd = signalfd(-1, &set, SFD_CLOEXEC | SFD_NONBLOCK);
  if (standalone->signal_fd < 0) rd_error_set_errno(error, RD_CODE_INTERNAL, "cannot watch for signals");
  return standalone->signal_fd >= 0;
}

// Comes first: the process must not fork once a device is open.
static bool fork_command(struct standalone *standalone, struct rd_error *error) {
  const struct rd_options *options = standalone->options;
  if (!rd_tree_program_open(&standalone->tree, options, error)) return false;
  standalone->command = is_tree(standalone) ? standalone->tree.command : options->command;
  if (standalone->command == NULL) return true;
  bool is_sender = options->role == RD_ROLE_SENDER;
  return rd_child_fork(&standalone->child, standalone->command, is_sender, standalone->tree.settings_fd, error) &&
         rd_watchdog_start(&standalone->watchdog, standalone->child.pid, is_sender ? -1 : standalone->child.pipe_fd,
                           error);
}

static bool is_tree(const struct standalone *standalone) {
  return standalone->tree.settings_fd >= 0;
}

static struct pollfd poll_signals(const struct rd_control *control) {
  return (struct pollfd){.fd = ((const struct standalone *)control)->signal_fd, .events = POLLIN};
}

static bool next_command(struct rd_control *control, struct rd_command *command) {
  struct standalone *standalone = (struct standalone *)control;
  if (!control->due) return false;
  read_signals(standalone);
  *command = (struct rd_command){.fd = -1};
  if (standalone->release_due) {
    standalone->release_due = false;
    command->type = RD_COMMAND_RELEASE;
    return true;
  }
  control->due = command_abort(standalone, command) || command_after_exit(standalone, command) ||
                 command_of_step(standalone, command);
  return control->due;
}

static void read_signals(struct standalone *standalone) {
  struct signalfd_siginfo info;
  while (read(standalone->signal_fd, &info, sizeof info) == (ssize_t)sizeof info) {
    if (info.ssi_signo == SIGCHLD || standalone->signal != 0) continue;
    standalone->signal = (int)info.ssi_signo;
    rd_error_set(&standalone->failure, RD_CODE_ABORTED, "ended by SIG%s", sigabbrev_np(standalone->signal));
  }
}

static bool command_abort(struct standalone *standalone, struct rd_command *command) {
  if (standalone->failure.code == RD_CODE_OK) return false;
  command->type = RD_COMMAND_ABORT;
  command->code = standalone->failure.code;
  snprintf(command->reason, sizeof command->reason, "%s", standalone->failure.message);
  standalone->failure.code = RD_CODE_OK;
  return true;
}

// A producer's exit commits or aborts the stream. A consumer's exit shows on its pipe.
static bool command_after_exit(struct standalone *standalone, struct rd_command *command) {
  bool runs = standalone->options->role == RD_ROLE_SENDER && standalone->child.go_fd < 0;
  if (!runs || standalone->exit_reported || !rd_child_has_exited(&standalone->child)) return false;
  standalone->exit_reported = true;
  int status = rd_child_status(&standalone->child);
  const char *producer = is_tree(standalone) ? "rdtree" : "the producer";
  command->type = is_whole(standalone) ? RD_COMMAND_COMMIT : RD_COMMAND_ABORT;
  command->code = RD_CODE_ABORTED;
  if (status > 128)
    snprintf(command->reason, sizeof command->reason, "%s was killed by signal %d", producer, status - 128);
  else
    snprintf(command->reason, sizeof command->reason, "%s exited with status %d", producer, status);
  return true;
}

static bool command_of_step(struct standalone *standalone, struct rd_command *command) {
  const struct rd_options *options = standalone->options;
  bool is_sender = options->role == RD_ROLE_SENDER, has_command = standalone->command != NULL;
  switch (standalone->step) {
  case STEP_OPEN:
    // The command starts when there is a connection.
    standalone->step = has_command ? STEP_CONNECT : STEP_FILE;
    command_open(standalone, command);
    return true;
  case STEP_FILE:
    standalone->step = STEP_CONNECT;
    command_file(standalone, command);
    return true;
  case STEP_CONNECT:
    standalone->step = !is_sender && standalone->over_rdma && standalone->over_tcp ? STEP_LISTEN_TOO : STEP_COMMAND;
    if (is_sender)
      command_dial(standalone, command);
    else
      command_listen(standalone, command, true);
    return true;
  case STEP_LISTEN_TOO:
    standalone->step = STEP_COMMAND;
    command_listen(standalone, command, false);
    return true;
  case STEP_COMMAND:
    if (has_command) return standalone->connected && command_ready(standalone, command);
    standalone->step = STEP_COMMIT;
    return command_of_step(standalone, command);
  case STEP_COMMIT:
    standalone->step = STEP_DONE;
    command->type = RD_COMMAND_COMMIT;
    return is_sender;
  case STEP_DONE:
    break;
  }
  return false;
}

static void command_open(const struct standalone *standalone, struct rd_command *command) {
  command->type = RD_COMMAND_OPEN;
  command->settings = standalone->options->settings;
  command->settings.port_low = command->settings.port_high = standalone->options->port;
  command->settings.rdma_first = standalone->over_rdma;
  memcpy(command->settings.key, standalone->key, RD_KEY_BYTES);
}

static void command_file(const struct standalone *standalone, struct rd_command *command) {
  const char *file = standalone->options->file;
  command->type = file != NULL ? RD_COMMAND_FILE : RD_COMMAND_READY;
  command->fd = standalone->options->role == RD_ROLE_SENDER ? STDIN_FILENO : STDOUT_FILENO;
  snprintf(command->path, sizeof command->path, "%s", file != NULL ? file : "");
}

static void command_dial(const struct standalone *standalone, struct rd_command *command) {
  command->type = RD_COMMAND_DIAL;
  command->address_count = standalone->over_rdma && standalone->over_tcp ? 2 : 1;
  for (size_t i = 0; i < command->address_count; i++) {
    struct rd_address *address = &command->addresses[i];
    *address = (struct rd_address){.port = standalone->options->port, .rdma = i == 0 && standalone->over_rdma};
    snprintf(address->host, sizeof address->host, "%s", standalone->options->host);
  }
}

// RDMA first, because a sender that tries both begins with it; but TCP first if the port is to be a free one.
static void command_listen(const struct standalone *standalone, struct rd_command *command, bool is_first) {
  bool both = standalone->over_rdma && standalone->over_tcp;
  bool rdma_is_first = standalone->options->port != 0;
  command->type = RD_COMMAND_LISTEN;
  command->listen = (struct rd_listen_command){.rdma = both ? is_first == rdma_is_first : standalone->over_rdma,
                                               .port = standalone->port};
}

static bool command_ready(struct standalone *standalone, struct rd_command *command) {
  standalone->step = STEP_DONE;
  if (!rd_child_run(&standalone->child, &standalone->failure)) return command_abort(standalone, command);
  command->type = RD_COMMAND_READY;
  command->fd = standalone->child.pipe_fd;
  return true;
}

static void handle_event(struct rd_control *control, const struct rd_event *event) {
  struct standalone *standalone = (struct standalone *)control;
  control->due = true;
  if (event->type == RD_EVENT_DIAL_FAILED) standalone->failure = *event->error;
  if (event->type == RD_EVENT_LISTENING || event->type == RD_EVENT_LISTEN_FAILED) {
    on_listening(standalone, event);
    return;
  }
  if (event->type == RD_EVENT_CONNECTED) standalone->connected = true;
  if (event->type == RD_EVENT_END) rd_watchdog_release(&standalone->watchdog);
  if (event->type == RD_EVENT_FINISHED) on_finished(standalone, event->error->code);
  rd_display_event(&standalone->display, event);
}

// A free port is printed when both listeners have it, because the sender tries RDMA first. Without TCP, a failure to
// listen over RDMA ends the run.
static void on_listening(struct standalone *standalone, const struct rd_event *event) {
  bool failed = event->type == RD_EVENT_LISTEN_FAILED;
  bool goes_on = failed && event->rdma && standalone->over_tcp;
  if (failed && !goes_on) standalone->failure = *event->error;
  if (standalone->options->port == 0 && standalone->step == STEP_LISTEN_TOO && !failed) {
    standalone->port = event->port;
    return;
  }
  struct rd_event first = {.type = RD_EVENT_LISTENING, .port = standalone->port};
  if (standalone->port != 0) rd_display_event(&standalone->display, &first);
  rd_display_event(&standalone->display, event);
  uint16_t port = failed ? standalone->port : event->port;
  if (port != 0) rd_key_offer_show(standalone->offer, standalone->options->settings.bind_host, port);
}

// A consumer must be dead before its input ends; a producer is no longer needed.
static void on_finished(struct standalone *standalone, enum rd_code code) {
  bool is_sender = standalone->options->role == RD_ROLE_SENDER;
  rd_child_forget(&standalone->child);
  if (is_sender && code != RD_CODE_OK) end_producer(standalone);
  if (!is_sender && code != RD_CODE_OK && code != RD_CODE_CLOSED) {
    if (is_tree(standalone)) {
      rd_child_signal(&standalone->child, SIGTERM);
      rd_child_wait(&standalone->child, TREE_END_MS);
    }
    rd_child_signal(&standalone->child, SIGKILL);
    rd_child_wait(&standalone->child, KILL_MS);
  }
  rd_watchdog_release(&standalone->watchdog);
  standalone->release_due = true;
}

// SIGPIPE as in a local pipe, also for a producer that writes nothing and would not notice that its reader is gone.
static void end_producer(struct standalone *standalone) {
  rd_cleanup_fd(&standalone->child.pipe_fd);
  rd_child_signal(&standalone->child, SIGPIPE);
  if (!rd_child_wait(&standalone->child, PRODUCER_MS)) rd_child_signal(&standalone->child, SIGKILL);
}

// The command's own status, unless the run failed for another reason.
static int exit_status(struct standalone *standalone, enum rd_code code) {
  bool is_sender = standalone->options->role == RD_ROLE_SENDER;
  bool good = code == RD_CODE_OK || code == RD_CODE_CLOSED;
  if (standalone->signal != 0) die_of_signal(standalone->signal);
  bool has_failed = standalone->exit_reported && !is_whole(standalone);
  if (is_sender && has_failed && code == RD_CODE_ABORTED) return rd_child_status(&standalone->child);
  if (is_sender && is_tree(standalone) && code == RD_CODE_OK) return rd_child_status(&standalone->child);
  if (!is_sender && standalone->child.exited && good) return consumer_status(standalone);
  if (code == RD_CODE_CLOSED && is_tree(standalone)) {
    rd_display_line(&standalone->display, NOT_WRITTEN);
    code = RD_CODE_ABORTED;
  }
  if (code == RD_CODE_CLOSED) die_of_signal(SIGPIPE);
  return rd_code_status(code);
}

// The producer has sent all that it could.
static bool is_whole(const struct standalone *standalone) {
  int status = rd_child_status(&standalone->child);
  return status == 0 || (is_tree(standalone) && status == RD_TREE_FAILED_PATHS);
}

// rdtree itself reports why it ends.
static int consumer_status(struct standalone *standalone) {
  int status = rd_child_status(&standalone->child);
  char message[64];
  snprintf(message, sizeof message, "the consumer exited with status %d", status);
  bool is_reported = is_tree(standalone) && status < 128;
  if (status != 0 && !is_reported) rd_display_line(&standalone->display, message);
  return status;
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
