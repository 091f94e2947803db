// SPDX-License-Identifier: Apache-2.0
#include "by_hand.h"

#include "child.h"
#include "cleanup.h"
#include "display.h"
#include "guard.h"
#include "io.h"
#include "rdma_port.h"

#include <signal.h>
#include <stdio.h>
#include <sys/signalfd.h>

#define PRODUCER_MS 1000 // from the end of its reader to its own
#define KILL_MS 10000
#define SHORT_KEY_WORDS                                                                                                \
  "a key this short can be guessed from a recording of the connection: rdrecv without KEY makes one that cannot"

// What is ordered next, in this command.
enum step { STEP_OPEN, STEP_FILE, STEP_CONNECT, STEP_LISTEN_TOO, STEP_COMMAND, STEP_COMMIT, STEP_REST };

struct by_hand {
  struct rd_control control;
  const struct rd_options *options;
  const unsigned char *key;
  struct rd_key_offer *offer;
  struct rd_display display;
  enum step step;
  bool over_rdma, over_tcp; // what is tried
  uint16_t port;            // that the first listener found, and the second one takes; 0: none
  bool connected;
  struct rd_child child;
  struct rd_guard guard; // of the child
  bool child_told;       // its exit was made a command
  int signal_fd;
  int signal;              // that ended the run; 0: none
  struct rd_error failure; // to be ordered as an abort
  bool release;
};

static void choose_transports(struct by_hand *hand);
static bool open_signals(struct by_hand *hand, struct rd_error *error);
static bool fork_command(struct by_hand *hand, struct rd_error *error);
static struct pollfd poll_signals(const struct rd_control *control);
static bool next_command(struct rd_control *control, struct rd_command *command);
static void take_signals(struct by_hand *hand);
static bool abort_command(struct by_hand *hand, struct rd_command *command);
static bool child_command(struct by_hand *hand, struct rd_command *command);
static bool next_step(struct by_hand *hand, struct rd_command *command);
static void open_command(const struct by_hand *hand, struct rd_command *command);
static void file_command(const struct by_hand *hand, struct rd_command *command);
static void dial_command(const struct by_hand *hand, struct rd_command *command);
static void listen_command(const struct by_hand *hand, struct rd_command *command, bool is_first);
static bool start_command(struct by_hand *hand, struct rd_command *command);
static void tell(struct rd_control *control, const struct rd_event *event);
static void listening(struct by_hand *hand, const struct rd_event *event);
static void finished(struct by_hand *hand, enum rd_code code);
static void end_producer(struct by_hand *hand);
static int status_of(struct by_hand *hand, enum rd_code code);
static int consumer_status(struct by_hand *hand);
static _Noreturn void die_of(int signal);

static const struct rd_control_ops by_hand_ops = {poll_signals, next_command, tell};

struct rd_control *rd_by_hand_create(const struct rd_options *options, const unsigned char key[RD_KEY_BYTES],
                                     struct rd_key_offer *offer, struct rd_error *error) {
  struct by_hand *hand = calloc(1, sizeof *hand);
  if (hand == NULL) {
    rd_error_set(error, RD_CODE_INTERNAL, "no memory");
    return NULL;
  }
  hand->control = (struct rd_control){.ops = &by_hand_ops, .due = true};
  hand->options = options;
  hand->key = key;
  hand->offer = offer;
  hand->child = RD_NO_CHILD;
  hand->guard = RD_NO_GUARD;
  hand->signal_fd = -1;
  rd_display_init(&hand->display, options);
  if (options->key_is_short && !options->quiet) rd_display_line(&hand->display, SHORT_KEY_WORDS);
  const char *bind_host = options->settings.bind_host;
  choose_transports(hand);
  if ((bind_host[0] == '\0' || rd_tcp_is_here(bind_host, error)) && open_signals(hand, error) &&
      fork_command(hand, error))
    return &hand->control;
  rd_by_hand_destroy(&hand->control);
  return NULL;
}

void rd_by_hand_destroy(struct rd_control *control) {
  struct by_hand *hand = (struct by_hand *)control;
  if (hand == NULL) return;
  rd_child_forget(&hand->child);
  rd_guard_release(&hand->guard);
  rd_cleanup_fd(&hand->signal_fd);
  rd_cleanup_fd(&hand->child.pipe_fd);
  free(hand);
}

pid_t rd_by_hand_command(const struct rd_control *control) {
  return ((const struct by_hand *)control)->child.pid;
}

int rd_by_hand_end(struct rd_control *control, enum rd_code code) {
  struct by_hand *hand = (struct by_hand *)control;
  // In this command: the signal of an exit is taken before the exit is looked for, never after.
  for (;;) {
    take_signals(hand);
    if (hand->signal != 0) rd_child_signal(&hand->child, SIGKILL);
    if (hand->child.pid <= 0 || rd_child_has_exited(&hand->child)) return status_of(hand, code);
    rd_wait_fd(hand->signal_fd, POLLIN, -1);
  }
}

// A machine without an active port opens no library.
static void choose_transports(struct by_hand *hand) {
  enum rd_transport_choice choice = hand->options->transport;
  hand->over_tcp = choice != RD_TRANSPORT_RDMA;
  hand->over_rdma =
      choice == RD_TRANSPORT_RDMA || (choice == RD_TRANSPORT_AUTO && rd_rdma_port_is_active(RD_RDMA_FOLDER));
}

static bool open_signals(struct by_hand *hand, struct rd_error *error) {
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
  hand->signal_fd = signalfd(-1, &set, SFD_CLOEXEC | SFD_NONBLOCK);
  if (hand->signal_fd < 0) rd_error_set_errno(error, RD_CODE_INTERNAL, "cannot watch for signals");
  return hand->signal_fd >= 0;
}

// Before anything else: nothing may fork once a device is open.
static bool fork_command(struct by_hand *hand, struct rd_error *error) {
  if (hand->options->command == NULL) return true;
  bool is_sender = hand->options->role == RD_ROLE_SENDER;
  return rd_child_fork(&hand->child, hand->options->command, is_sender, error) &&
         rd_guard_start(&hand->guard, hand->child.pid, is_sender ? -1 : hand->child.pipe_fd, error);
}

static struct pollfd poll_signals(const struct rd_control *control) {
  return (struct pollfd){.fd = ((const struct by_hand *)control)->signal_fd, .events = POLLIN};
}

static bool next_command(struct rd_control *control, struct rd_command *command) {
  struct by_hand *hand = (struct by_hand *)control;
  if (!control->due) return false;
  take_signals(hand);
  *command = (struct rd_command){.fd = -1};
  if (hand->release) {
    hand->release = false;
    command->type = RD_COMMAND_RELEASE;
    return true;
  }
  control->due = abort_command(hand, command) || child_command(hand, command) || next_step(hand, command);
  return control->due;
}

static void take_signals(struct by_hand *hand) {
  struct signalfd_siginfo info;
  while (read(hand->signal_fd, &info, sizeof info) == (ssize_t)sizeof info) {
    if (info.ssi_signo == SIGCHLD || hand->signal != 0) continue;
    hand->signal = (int)info.ssi_signo;
    rd_error_set(&hand->failure, RD_CODE_ABORTED, "ended by SIG%s", sigabbrev_np(hand->signal));
  }
}

static bool abort_command(struct by_hand *hand, struct rd_command *command) {
  if (hand->failure.code == RD_CODE_OK) return false;
  command->type = RD_COMMAND_ABORT;
  command->code = hand->failure.code;
  snprintf(command->words, sizeof command->words, "%s", hand->failure.message);
  hand->failure.code = RD_CODE_OK;
  return true;
}

// The producer's exit is the commit, or the abort. A consumer's shows by its pipe.
static bool child_command(struct by_hand *hand, struct rd_command *command) {
  bool runs = hand->options->role == RD_ROLE_SENDER && hand->child.go_fd < 0;
  if (!runs || hand->child_told || !rd_child_has_exited(&hand->child)) return false;
  hand->child_told = true;
  int status = rd_child_status(&hand->child);
  command->type = status == 0 ? RD_COMMAND_COMMIT : RD_COMMAND_ABORT;
  command->code = RD_CODE_ABORTED;
  if (status > 128)
    snprintf(command->words, sizeof command->words, "the producer was killed by signal %d", status - 128);
  else
    snprintf(command->words, sizeof command->words, "the producer exited %d", status);
  return true;
}

static bool next_step(struct by_hand *hand, struct rd_command *command) {
  const struct rd_options *options = hand->options;
  bool is_sender = options->role == RD_ROLE_SENDER, has_command = options->command != NULL;
  switch (hand->step) {
  case STEP_OPEN:
    // The command starts when there is a connection.
    hand->step = has_command ? STEP_CONNECT : STEP_FILE;
    open_command(hand, command);
    return true;
  case STEP_FILE:
    hand->step = STEP_CONNECT;
    file_command(hand, command);
    return true;
  case STEP_CONNECT:
    hand->step = !is_sender && hand->over_rdma && hand->over_tcp ? STEP_LISTEN_TOO : STEP_COMMAND;
    if (is_sender)
      dial_command(hand, command);
    else
      listen_command(hand, command, true);
    return true;
  case STEP_LISTEN_TOO:
    hand->step = STEP_COMMAND;
    listen_command(hand, command, false);
    return true;
  case STEP_COMMAND:
    if (has_command) return hand->connected && start_command(hand, command);
    hand->step = STEP_COMMIT;
    return next_step(hand, command);
  case STEP_COMMIT:
    hand->step = STEP_REST;
    command->type = RD_COMMAND_COMMIT;
    return is_sender;
  case STEP_REST:
    break;
  }
  return false;
}

static void open_command(const struct by_hand *hand, struct rd_command *command) {
  command->type = RD_COMMAND_OPEN;
  command->settings = hand->options->settings;
  command->settings.port_low = command->settings.port_high = hand->options->port;
  command->settings.rdma_first = hand->over_rdma;
  memcpy(command->settings.key, hand->key, RD_KEY_BYTES);
}

static void file_command(const struct by_hand *hand, struct rd_command *command) {
  const char *file = hand->options->file;
  command->type = file != NULL ? RD_COMMAND_FILE : RD_COMMAND_READY;
  command->fd = hand->options->role == RD_ROLE_SENDER ? STDIN_FILENO : STDOUT_FILENO;
  snprintf(command->path, sizeof command->path, "%s", file != NULL ? file : "");
}

static void dial_command(const struct by_hand *hand, struct rd_command *command) {
  command->type = RD_COMMAND_DIAL;
  command->address_count = hand->over_rdma && hand->over_tcp ? 2 : 1;
  for (size_t i = 0; i < command->address_count; i++) {
    struct rd_address *address = &command->addresses[i];
    *address = (struct rd_address){.port = hand->options->port, .rdma = i == 0 && hand->over_rdma};
    snprintf(address->host, sizeof address->host, "%s", hand->options->host);
  }
}

// RDMA first, so that whoever tries both finds it; but TCP first where a free port is looked for.
static void listen_command(const struct by_hand *hand, struct rd_command *command, bool is_first) {
  bool both = hand->over_rdma && hand->over_tcp;
  bool rdma_is_first = hand->options->port != 0;
  command->type = RD_COMMAND_LISTEN;
  command->listen =
      (struct rd_listen_command){.rdma = both ? is_first == rdma_is_first : hand->over_rdma, .port = hand->port};
}

static bool start_command(struct by_hand *hand, struct rd_command *command) {
  hand->step = STEP_REST;
  if (!rd_child_run(&hand->child, &hand->failure)) return abort_command(hand, command);
  command->type = RD_COMMAND_READY;
  command->fd = hand->child.pipe_fd;
  return true;
}

static void tell(struct rd_control *control, const struct rd_event *event) {
  struct by_hand *hand = (struct by_hand *)control;
  control->due = true;
  if (event->type == RD_EVENT_DIAL_FAILED) hand->failure = *event->error;
  if (event->type == RD_EVENT_LISTENING || event->type == RD_EVENT_LISTEN_FAILED) {
    listening(hand, event);
    return;
  }
  if (event->type == RD_EVENT_CONNECTED) hand->connected = true;
  if (event->type == RD_EVENT_END) rd_guard_release(&hand->guard);
  if (event->type == RD_EVENT_FINISHED) finished(hand, event->error->code);
  rd_display_event(&hand->display, event);
}

// A free port is told when all listen on it: who hears of it tries RDMA first. Only without TCP must RDMA be.
static void listening(struct by_hand *hand, const struct rd_event *event) {
  bool failed = event->type == RD_EVENT_LISTEN_FAILED;
  bool goes_on = failed && event->rdma && hand->over_tcp;
  if (failed && !goes_on) hand->failure = *event->error;
  if (hand->options->port == 0 && hand->step == STEP_LISTEN_TOO && !failed) {
    hand->port = event->port;
    return;
  }
  struct rd_event first = {.type = RD_EVENT_LISTENING, .port = hand->port};
  if (hand->port != 0) rd_display_event(&hand->display, &first);
  rd_display_event(&hand->display, event);
  uint16_t port = failed ? hand->port : event->port;
  if (port != 0) rd_key_offer_show(hand->offer, hand->options->settings.bind_host, port);
}

// A consumer is dead before its input ends; a producer is not needed any more.
static void finished(struct by_hand *hand, enum rd_code code) {
  bool is_sender = hand->options->role == RD_ROLE_SENDER;
  rd_child_forget(&hand->child);
  if (is_sender && code != RD_CODE_OK) end_producer(hand);
  if (!is_sender && code != RD_CODE_OK && code != RD_CODE_CLOSED) {
    rd_child_signal(&hand->child, SIGKILL);
    rd_child_wait(&hand->child, KILL_MS);
  }
  rd_guard_release(&hand->guard);
  hand->release = true;
}

// As in a local pipe; also one that writes nothing, and so would never learn that nobody reads.
static void end_producer(struct by_hand *hand) {
  rd_cleanup_fd(&hand->child.pipe_fd);
  rd_child_signal(&hand->child, SIGPIPE);
  if (!rd_child_wait(&hand->child, PRODUCER_MS)) rd_child_signal(&hand->child, SIGKILL);
}

// A command that ended by itself says how, unless something worse happened than what it did.
static int status_of(struct by_hand *hand, enum rd_code code) {
  bool is_sender = hand->options->role == RD_ROLE_SENDER;
  bool good = code == RD_CODE_OK || code == RD_CODE_CLOSED;
  if (hand->signal != 0) die_of(hand->signal);
  if (is_sender && hand->child_told && code == RD_CODE_ABORTED) return rd_child_status(&hand->child);
  if (!is_sender && hand->child.exited && good) return consumer_status(hand);
  if (code == RD_CODE_CLOSED) die_of(SIGPIPE);
  return rd_code_status(code);
}

static int consumer_status(struct by_hand *hand) {
  int status = rd_child_status(&hand->child);
  char words[64];
  snprintf(words, sizeof words, "the consumer ended with status %d", status);
  if (status != 0) rd_display_line(&hand->display, words);
  return status;
}

static _Noreturn void die_of(int signal_number) {
  sigset_t set;
  sigemptyset(&set);
  sigaddset(&set, signal_number);
  signal(signal_number, SIG_DFL);
  raise(signal_number);
  sigprocmask(SIG_UNBLOCK, &set, NULL);
  _exit(128 + signal_number);
}
