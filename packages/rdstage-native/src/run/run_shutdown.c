// SPDX-License-Identifier: Apache-2.0
#include "run/run_shutdown.h"

#include "base/io.h"
#include "protocol/event.h"

#include <signal.h>
#include <unistd.h>

#define RETRY_MS 20
#define SENDERS_WITHIN_MS 1000
#define SENDERS_DEAD_WITHIN_MS 2000 // this includes a sender that the kernel cannot kill yet: it does nothing any more
#define COMMANDS_WITHIN_MS 6000     // since the shutdown began
#define RECEIVERS_WITHIN_MS 1000
#define ALL_WITHIN_MS 8000

static bool step(struct rd_run_shutdown *shutdown_state);
static void enter(struct rd_run_shutdown *shutdown_state, enum rd_shutdown_phase phase);
static bool phase_lasts(const struct rd_run_shutdown *shutdown_state, int64_t within_ms);
static bool senders_are_over(const struct rd_run_shutdown *shutdown_state);
static bool receivers_are_over(const struct rd_run_shutdown *shutdown_state);
static bool sweep_is_over(struct rd_run_shutdown *shutdown_state, int64_t within_ms);
static void exclude_programs(struct rd_run_shutdown *shutdown_state);
static void signal_programs(const struct rd_run_shutdown *shutdown_state, enum rd_hop_side side, int number);
static void emit_left_behind(const struct rd_run_shutdown *shutdown_state);
static void on_again(void *context);

void rd_run_shutdown_begin(struct rd_run_shutdown *shutdown_state, struct rd_agent *agent, struct rd_segment *segment,
                           const char *reason, void (*done)(void *context), void *context) {
  if (shutdown_state->phase != RD_SHUTDOWN_NOT) return;
  *shutdown_state = (struct rd_run_shutdown){.agent = agent, .segment = segment, .done = done, .context = context};
  shutdown_state->began_ms = rd_now_ms();
  struct rd_process_tree_sweep *sweep = &shutdown_state->sweep;
  sweep->root = getpid();
  if (segment != NULL) sweep->cleaner_count = rd_segment_trees(segment, sweep->cleaners, RD_TREE_CLEANERS_MAX);
  enter(shutdown_state, RD_SHUTDOWN_SENDERS);
  struct rd_error ignored; // if /proc cannot be read, the programs and the guardian still end all that they can
  if (segment != NULL) rd_segment_abort(segment, reason);
  exclude_programs(shutdown_state);
  rd_process_tree_freeze(&shutdown_state->sweep, &ignored);
  if (agent->suspended) {
    signal_programs(shutdown_state, RD_SIDE_SEND, SIGCONT);
    signal_programs(shutdown_state, RD_SIDE_RECV, SIGCONT);
  }
  rd_loop_timer(agent->loop, &shutdown_state->again, RETRY_MS, on_again, shutdown_state);
}

void rd_run_shutdown_proceed(struct rd_run_shutdown *shutdown_state) {
  if (shutdown_state->phase == RD_SHUTDOWN_NOT || shutdown_state->phase == RD_SHUTDOWN_DONE) return;
  while (step(shutdown_state)) continue;
}

// Returns true if a new phase began.
static bool step(struct rd_run_shutdown *shutdown_state) {
  switch (shutdown_state->phase) {
  case RD_SHUTDOWN_SENDERS:
    if (!senders_are_over(shutdown_state)) return false;
    enter(shutdown_state, RD_SHUTDOWN_COMMANDS);
    return true;
  case RD_SHUTDOWN_COMMANDS:
    exclude_programs(shutdown_state);
    if (!sweep_is_over(shutdown_state, COMMANDS_WITHIN_MS)) return false;
    if (shutdown_state->segment != NULL) rd_segment_release(shutdown_state->segment);
    enter(shutdown_state, RD_SHUTDOWN_RECEIVERS);
    return true;
  case RD_SHUTDOWN_RECEIVERS:
    if (!receivers_are_over(shutdown_state)) return false;
    if (shutdown_state->segment != NULL) rd_segment_expect_exit(shutdown_state->segment);
    shutdown_state->sweep.excluded_count = 0;
    enter(shutdown_state, RD_SHUTDOWN_REST);
    return true;
  case RD_SHUTDOWN_REST:
    if (!sweep_is_over(shutdown_state, ALL_WITHIN_MS)) return false;
    enter(shutdown_state, RD_SHUTDOWN_DONE);
    rd_loop_timer_stop(shutdown_state->agent->loop, &shutdown_state->again);
    if (shutdown_state->segment != NULL) rd_segment_close_stderr(shutdown_state->segment);
    emit_left_behind(shutdown_state);
    shutdown_state->done(shutdown_state->context);
    return false;
  default:
    return false;
  }
}

static void enter(struct rd_run_shutdown *shutdown_state, enum rd_shutdown_phase phase) {
  shutdown_state->phase = phase;
  shutdown_state->phase_began_ms = rd_now_ms();
}

static bool phase_lasts(const struct rd_run_shutdown *shutdown_state, int64_t within_ms) {
  return rd_now_ms() - shutdown_state->phase_began_ms < within_ms;
}

// An rdsend whose producer's end was committed must get the abort before its input ends.
static bool senders_are_over(const struct rd_run_shutdown *shutdown_state) {
  if (shutdown_state->segment == NULL || rd_segment_ends_are_over(shutdown_state->segment, RD_SIDE_SEND)) return true;
  if (phase_lasts(shutdown_state, SENDERS_WITHIN_MS)) return false;
  rd_segment_expect_exit(shutdown_state->segment);
  signal_programs(shutdown_state, RD_SIDE_SEND, SIGKILL);
  return !phase_lasts(shutdown_state, SENDERS_DEAD_WITHIN_MS);
}

static bool receivers_are_over(const struct rd_run_shutdown *shutdown_state) {
  return shutdown_state->segment == NULL || rd_segment_ends_are_over(shutdown_state->segment, RD_SIDE_RECV) ||
         !phase_lasts(shutdown_state, RECEIVERS_WITHIN_MS);
}

static bool sweep_is_over(struct rd_run_shutdown *shutdown_state, int64_t within_ms) {
  struct rd_error ignored;
  ssize_t left = rd_process_tree_sweep(&shutdown_state->sweep, &ignored);
  return left < 0 || rd_process_tree_sweep_is_over(&shutdown_state->sweep, left) ||
         rd_now_ms() - shutdown_state->began_ms >= within_ms;
}

static void exclude_programs(struct rd_run_shutdown *shutdown_state) {
  struct rd_process_tree_sweep *sweep = &shutdown_state->sweep;
  sweep->excluded_count = 0;
  if (shutdown_state->segment == NULL) return;
  sweep->excluded_count =
      rd_segment_programs(shutdown_state->segment, RD_SIDE_SEND, sweep->excluded, RD_TREE_EXCLUDED_MAX);
  sweep->excluded_count +=
      rd_segment_programs(shutdown_state->segment, RD_SIDE_RECV, sweep->excluded + sweep->excluded_count,
                          RD_TREE_EXCLUDED_MAX - sweep->excluded_count);
}

static void signal_programs(const struct rd_run_shutdown *shutdown_state, enum rd_hop_side side, int number) {
  pid_t pids[RD_TREE_EXCLUDED_MAX];
  size_t count = shutdown_state->segment != NULL
                     ? rd_segment_programs(shutdown_state->segment, side, pids, RD_TREE_EXCLUDED_MAX)
                     : 0;
  for (size_t i = 0; i < count; i++) kill(pids[i], number); // child processes that were not reaped yet
}

static void emit_left_behind(const struct rd_run_shutdown *shutdown_state) {
  struct rd_process_list list;
  struct rd_error ignored;
  if (!rd_process_list_below(getpid(), &list, &ignored)) return;
  for (size_t i = 0; i < list.count; i++) {
    char command[200];
    rd_process_command(list.items[i].pid, command, sizeof command);
    rd_control_line_emit(shutdown_state->agent->control, rd_event_left_behind(list.items[i].pid, command));
  }
  rd_process_list_clear(&list);
}

static void on_again(void *context) {
  struct rd_run_shutdown *shutdown_state = context;
  rd_loop_timer(shutdown_state->agent->loop, &shutdown_state->again, RETRY_MS, on_again, shutdown_state);
  rd_run_shutdown_proceed(shutdown_state);
}
