// SPDX-License-Identifier: Apache-2.0
#include "run/supervisor.h"

#include "base/cleanup.h"
#include "base/spawn.h"
#include "process/orphans.h"
#include "process/process_tree.h"
#include "protocol/event.h"
#include "protocol/hello.h"
#include "run/guardian_messages.h"
#include "run/lease.h"
#include "run/run_shutdown.h"
#include "run/segment.h"

#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/signalfd.h>
#include <sys/wait.h>
#include <unistd.h>

#define FINAL_FLUSH_MS 2000

struct supervisor {
  struct rd_agent agent;
  struct rd_segment *segment; // NULL: none yet
  struct rd_lease lease;
  struct rd_run_shutdown shutdown_state;
  struct rd_watch *guardian_watch;
  int signal_fd;
  bool children_changed;
  bool over;
  int status;
};

static bool set_up(struct supervisor *supervisor, const struct rd_agent_options *options, int guard_fd,
                   struct rd_error *error);
static void send_hello(struct supervisor *supervisor, const char *nonce, pid_t guardian);
static bool run(struct supervisor *supervisor, struct rd_error *error);
static void reap(struct supervisor *supervisor);
static void hold_on(struct supervisor *supervisor);
static void tear_down(struct supervisor *supervisor);
static void on_request(void *context, struct rd_request *request);
static bool is_taken_at_the_end(enum rd_request_op op);
static void handle_request(struct supervisor *supervisor, struct rd_request *request);
static bool prepare(struct supervisor *supervisor, struct rd_request *request, struct rd_error *error);
static bool has_user_descriptors(const struct rd_agent *agent, const struct rd_prepare_spec *prepare);
static bool ask_segment(struct supervisor *supervisor, const struct rd_request *request, struct rd_error *error);
static bool finish(struct supervisor *supervisor, struct rd_error *error);
static void suspend(struct supervisor *supervisor);
static void resume(struct supervisor *supervisor);
static void on_lost(void *context, const struct rd_error *why);
static void on_lease_expired(void *context);
static void on_guardian_gone(void *context, short ready);
static void on_signal(void *context, short ready);
static void give_up(struct supervisor *supervisor, enum rd_code code, const char *reason);
static void end(struct supervisor *supervisor, const char *reason);
static void on_ended(void *context);

int rd_supervisor_run(const struct rd_agent_options *options, pid_t guardian, int guard_fd) {
  struct supervisor supervisor = {.status = EXIT_FAILURE, .signal_fd = -1};
  struct rd_error error;
  if (!set_up(&supervisor, options, guard_fd, &error)) {
    fprintf(stderr, "rdstage: %s\n", error.message);
    return EXIT_FAILURE;
  }
  send_hello(&supervisor, options->nonce, guardian);
  if (run(&supervisor, &error)) {
    rd_control_line_flush(supervisor.agent.control, FINAL_FLUSH_MS);
    if (!rd_guardian_finished(guard_fd, &error)) hold_on(&supervisor);
  }
  tear_down(&supervisor);
  return supervisor.status;
}

static bool set_up(struct supervisor *supervisor, const struct rd_agent_options *options, int guard_fd,
                   struct rd_error *error) {
  struct rd_agent *agent = &supervisor->agent;
  if (!rd_orphans_adopt(error)) return false;
  agent->null_fd = rd_spawn_null_device(error);
  supervisor->signal_fd = rd_spawn_signals(error);
  if (agent->null_fd < 0 || supervisor->signal_fd < 0) return false;
  agent->guard_fd = guard_fd;
  agent->user_stdin = options->user_stdin;
  agent->limits = options->limits;
  agent->served = options->served;
  agent->user_stdout = options->user_stdout;
  agent->loop = rd_loop_create();
  // First: standard input may be closed once the guardian has ended, and the cause must be reported.
  supervisor->guardian_watch = rd_loop_watch(agent->loop, guard_fd, POLLIN, on_guardian_gone, supervisor);
  struct rd_control_line_handler handler = {.request = on_request, .lost = on_lost, .context = supervisor};
  agent->control = rd_control_line_create(agent->loop, STDIN_FILENO, STDOUT_FILENO, &handler);
  rd_loop_watch(agent->loop, supervisor->signal_fd, POLLIN, on_signal, supervisor);
  return true;
}

static void send_hello(struct supervisor *supervisor, const char *nonce, pid_t guardian) {
  RD_AUTO_FREE char *line = rd_hello_line(nonce, guardian, supervisor->agent.null_fd);
  rd_control_line_emit_line(supervisor->agent.control, line);
  rd_lease_start(&supervisor->lease, &supervisor->agent, on_lease_expired, supervisor);
  rd_control_line_listen(supervisor->agent.control);
}

static bool run(struct supervisor *supervisor, struct rd_error *error) {
  while (!supervisor->over) {
    if (!rd_loop_turn(supervisor->agent.loop, error)) return false;
    if (supervisor->children_changed) reap(supervisor);
  }
  return true;
}

// Handles the programs' messages first: they explain why a stage ended.
static void reap(struct supervisor *supervisor) {
  supervisor->children_changed = false;
  if (supervisor->segment != NULL) rd_segment_drain(supervisor->segment);
  int status;
  struct rusage measured;
  for (pid_t pid; (pid = wait4(-1, &status, WNOHANG, &measured)) > 0;) {
    const struct rd_usage usage = rd_usage_of(&measured);
    if (supervisor->segment != NULL) rd_segment_child_ended(supervisor->segment, pid, status, &usage);
  }
  rd_run_shutdown_proceed(&supervisor->shutdown_state);
}

// The guardian is gone: this process must hold the write ends.
static void hold_on(struct supervisor *supervisor) {
  struct rd_held_write_ends held = {0};
  if (supervisor->segment != NULL) rd_segment_hand_over(supervisor->segment, &held);
  rd_held_write_ends_leave_behind(&held);
}

static void tear_down(struct supervisor *supervisor) {
  struct rd_agent *agent = &supervisor->agent;
  rd_lease_stop(&supervisor->lease);
  rd_segment_destroy(supervisor->segment);
  rd_control_line_destroy(agent->control);
  rd_loop_destroy(agent->loop);
  rd_cleanup_fd(&supervisor->signal_fd);
  rd_cleanup_fd(&agent->null_fd);
  rd_cleanup_fd(&agent->guard_fd);
}

static void on_request(void *context, struct rd_request *request) {
  struct supervisor *supervisor = context;
  if (supervisor->over) return;
  rd_lease_renew(&supervisor->lease);
  if (supervisor->shutdown_state.phase == RD_SHUTDOWN_NOT || is_taken_at_the_end(request->op))
    handle_request(supervisor, request);
}

static bool is_taken_at_the_end(enum rd_request_op op) {
  return op == RD_REQUEST_STDERR_ACK || op == RD_REQUEST_SHOW;
}

static void handle_request(struct supervisor *supervisor, struct rd_request *request) {
  struct rd_error error;
  bool done = true;
  switch (request->op) {
  case RD_REQUEST_PREPARE:
    done = prepare(supervisor, request, &error);
    break;
  case RD_REQUEST_LISTEN:
  case RD_REQUEST_DIAL:
  case RD_REQUEST_SHOW:
  case RD_REQUEST_REJOIN:
  case RD_REQUEST_LAST:
  case RD_REQUEST_GO:
    done = ask_segment(supervisor, request, &error);
    break;
  case RD_REQUEST_STDERR_ACK:
    if (supervisor->segment != NULL) rd_segment_acknowledge_stderr(supervisor->segment, request->stage, request->bytes);
    break;
  case RD_REQUEST_SUSPEND:
    suspend(supervisor);
    break;
  case RD_REQUEST_RESUME:
    resume(supervisor);
    break;
  case RD_REQUEST_ABORT:
    end(supervisor, request->reason);
    break;
  case RD_REQUEST_FINISH:
    done = finish(supervisor, &error);
    break;
  case RD_REQUEST_PING:
    break;
  }
  if (!done) give_up(supervisor, error.code, error.message);
}

static bool prepare(struct supervisor *supervisor, struct rd_request *request, struct rd_error *error) {
  if (supervisor->segment != NULL && !rd_segment_has_ended(supervisor->segment)) {
    rd_error_set(error, RD_CODE_USAGE, "rdpipe sent a segment before the last one had ended");
    return false;
  }
  if (!has_user_descriptors(&supervisor->agent, request->prepare)) {
    rd_error_set(error, RD_CODE_USAGE, "rdpipe sent a link to a descriptor that the agent does not have");
    return false;
  }
  if (!rd_served_allows(&supervisor->agent.served, request->prepare, error)) return false;
  rd_segment_destroy(supervisor->segment);
  rd_lease_set(&supervisor->lease, request->prepare->lease_ms);
  supervisor->segment = rd_segment_create(&supervisor->agent, request->prepare);
  request->prepare = NULL;
  return true;
}

static bool has_user_descriptors(const struct rd_agent *agent, const struct rd_prepare_spec *prepare) {
  for (size_t i = 0; i < prepare->link_count; i++) {
    const struct rd_link_spec *link = &prepare->links[i];
    if (agent->user_stdin < 0 && (link->kind == RD_LINK_STDIN || link->source == RD_PARTY_USER)) return false;
    if (agent->user_stdout < 0 && (link->kind == RD_LINK_STDOUT || link->sink == RD_PARTY_USER)) return false;
  }
  return true;
}

static bool ask_segment(struct supervisor *supervisor, const struct rd_request *request, struct rd_error *error) {
  struct rd_segment *segment = supervisor->segment;
  if (segment == NULL) {
    rd_error_set(error, RD_CODE_USAGE, "rdpipe sent no segment");
    return false;
  }
  if (!rd_served_allows_connection(&supervisor->agent.served, request->object, error)) return false;
  if (request->op == RD_REQUEST_GO) return rd_segment_go(segment, request->segment, error);
  return rd_segment_connect(segment, request, error);
}

static bool finish(struct supervisor *supervisor, struct rd_error *error) {
  if (supervisor->segment != NULL && !rd_segment_has_ended(supervisor->segment)) {
    rd_error_set(error, RD_CODE_USAGE, "rdpipe sent finish before the segment had ended");
    return false;
  }
  rd_control_line_emit(supervisor->agent.control, rd_event_plain("ended"));
  supervisor->status = EXIT_SUCCESS;
  supervisor->over = true;
  return true;
}

static void suspend(struct supervisor *supervisor) {
  if (supervisor->agent.suspended) return;
  supervisor->agent.suspended = true;
  rd_lease_suspend(&supervisor->lease);
  struct rd_process_tree_sweep everything = {.root = getpid()};
  struct rd_error ignored; // if /proc cannot be read, the processes keep running
  rd_process_tree_freeze(&everything, &ignored);
}

static void resume(struct supervisor *supervisor) {
  if (!supervisor->agent.suspended) return;
  supervisor->agent.suspended = false;
  rd_lease_renew(&supervisor->lease);
  struct rd_error ignored;
  rd_process_tree_thaw(getpid(), &ignored);
}

static void on_lost(void *context, const struct rd_error *why) {
  give_up(context, why->code, why->message);
}

static void on_lease_expired(void *context) {
  const struct supervisor *supervisor = context;
  char reason[64];
  snprintf(reason, sizeof reason, "lost rdpipe: it sent nothing for %g s", (double)supervisor->lease.lease_ms / 1000);
  give_up(context, RD_CODE_PEER_STALLED, reason);
}

// The guardian never writes to the socket: it becomes readable when the guardian is gone.
static void on_guardian_gone(void *context, short ready) {
  (void)ready;
  struct supervisor *supervisor = context;
  rd_watch_end(&supervisor->guardian_watch);
  give_up(supervisor, RD_CODE_INTERNAL, "the agent's guardian was killed");
}

static void on_signal(void *context, short ready) {
  (void)ready;
  struct supervisor *supervisor = context;
  struct signalfd_siginfo info;
  while (read(supervisor->signal_fd, &info, sizeof info) == (ssize_t)sizeof info) {
    if (info.ssi_signo == SIGCHLD) {
      supervisor->children_changed = true;
      continue;
    }
    char reason[64];
    snprintf(reason, sizeof reason, "the agent was ended by signal %u", info.ssi_signo);
    give_up(supervisor, RD_CODE_INTERNAL, reason);
  }
}

// Ends the run for a reason other than a request of rdpipe.
static void give_up(struct supervisor *supervisor, enum rd_code code, const char *reason) {
  if (supervisor->over || supervisor->shutdown_state.phase != RD_SHUTDOWN_NOT) return;
  rd_control_line_emit(supervisor->agent.control, rd_event_failed(0, code, reason));
  end(supervisor, reason);
}

static void end(struct supervisor *supervisor, const char *reason) {
  rd_run_shutdown_begin(&supervisor->shutdown_state, &supervisor->agent, supervisor->segment, reason, on_ended,
                        supervisor);
}

static void on_ended(void *context) {
  struct supervisor *supervisor = context;
  reap(supervisor); // the last processes may have died meanwhile: `exited` comes before `ended`
  rd_control_line_emit(supervisor->agent.control, rd_event_plain("ended"));
  supervisor->over = true;
}
