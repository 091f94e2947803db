// SPDX-License-Identifier: Apache-2.0
#include "ending.h"

#include "event.h"
#include "io.h"

#include <signal.h>
#include <unistd.h>

#define LOOK_AGAIN_MS 20
#define SENDERS_WITHIN_MS 1000
#define SENDERS_DEAD_WITHIN_MS 2000 // also one that the system does not let die yet: it does nothing more, then
#define COMMANDS_WITHIN_MS 6000     // of the whole
#define RECEIVERS_WITHIN_MS 1000
#define ALL_WITHIN_MS 8000

static bool step(struct ending *ending);
static void enter(struct ending *ending, enum ending_phase phase);
static bool phase_lasts(const struct ending *ending, int64_t within_ms);
static bool senders_are_over(const struct ending *ending);
static bool receivers_are_over(const struct ending *ending);
static bool sweep_is_over(struct ending *ending, int64_t within_ms);
static void spare_programs(struct ending *ending);
static void signal_programs(const struct ending *ending, enum hop_end end, int number);
static void tell_left_behind(const struct ending *ending);
static void on_again(void *context);

void ending_begin(struct ending *ending, struct agent *agent, struct segment *segment, const char *reason,
                  void (*done)(void *context), void *context) {
  if (ending->phase != ENDING_NOT) return;
  *ending = (struct ending){.agent = agent, .segment = segment, .done = done, .context = context};
  ending->began_ms = rd_now_ms();
  ending->sweep.root = getpid();
  enter(ending, ENDING_SENDERS);
  struct rd_error ignored; // where /proc cannot be read, the programs' and the guardian's own ways remain
  if (segment) segment_abort(segment, reason);
  spare_programs(ending);
  tree_freeze(&ending->sweep, &ignored);
  if (agent->suspended) {
    signal_programs(ending, HOP_SEND, SIGCONT);
    signal_programs(ending, HOP_RECV, SIGCONT);
  }
  loop_timer(agent->loop, &ending->again, LOOK_AGAIN_MS, on_again, ending);
}

void ending_look(struct ending *ending) {
  if (ending->phase == ENDING_NOT || ending->phase == ENDING_DONE) return;
  while (step(ending)) continue;
}

// True when a new phase began.
static bool step(struct ending *ending) {
  switch (ending->phase) {
  case ENDING_SENDERS:
    if (!senders_are_over(ending)) return false;
    enter(ending, ENDING_COMMANDS);
    return true;
  case ENDING_COMMANDS:
    spare_programs(ending);
    if (!sweep_is_over(ending, COMMANDS_WITHIN_MS)) return false;
    if (ending->segment) segment_release(ending->segment);
    enter(ending, ENDING_RECEIVERS);
    return true;
  case ENDING_RECEIVERS:
    if (!receivers_are_over(ending)) return false;
    if (ending->segment) segment_doom(ending->segment);
    ending->sweep.spared_count = 0;
    enter(ending, ENDING_REST);
    return true;
  case ENDING_REST:
    if (!sweep_is_over(ending, ALL_WITHIN_MS)) return false;
    enter(ending, ENDING_DONE);
    loop_timer_stop(ending->agent->loop, &ending->again);
    if (ending->segment) segment_close_stderr(ending->segment);
    tell_left_behind(ending);
    ending->done(ending->context);
    return false;
  default:
    return false;
  }
}

static void enter(struct ending *ending, enum ending_phase phase) {
  ending->phase = phase;
  ending->phase_began_ms = rd_now_ms();
}

static bool phase_lasts(const struct ending *ending, int64_t within_ms) {
  return rd_now_ms() - ending->phase_began_ms < within_ms;
}

// An rdsend that was told that its producer ended well must hear ABORT before its input ends.
static bool senders_are_over(const struct ending *ending) {
  if (!ending->segment || segment_ends_are_over(ending->segment, HOP_SEND)) return true;
  if (phase_lasts(ending, SENDERS_WITHIN_MS)) return false;
  segment_doom(ending->segment);
  signal_programs(ending, HOP_SEND, SIGKILL);
  return !phase_lasts(ending, SENDERS_DEAD_WITHIN_MS);
}

static bool receivers_are_over(const struct ending *ending) {
  return !ending->segment || segment_ends_are_over(ending->segment, HOP_RECV) ||
         !phase_lasts(ending, RECEIVERS_WITHIN_MS);
}

static bool sweep_is_over(struct ending *ending, int64_t within_ms) {
  struct rd_error ignored;
  ssize_t left = tree_sweep(&ending->sweep, &ignored);
  return left < 0 || tree_sweep_is_over(&ending->sweep, left) || rd_now_ms() - ending->began_ms >= within_ms;
}

static void spare_programs(struct ending *ending) {
  struct tree_sweep *sweep = &ending->sweep;
  sweep->spared_count = 0;
  if (!ending->segment) return;
  sweep->spared_count = segment_programs(ending->segment, HOP_SEND, sweep->spared, TREE_SPARED_MAX);
  sweep->spared_count += segment_programs(ending->segment, HOP_RECV, sweep->spared + sweep->spared_count,
                                          TREE_SPARED_MAX - sweep->spared_count);
}

static void signal_programs(const struct ending *ending, enum hop_end end, int number) {
  pid_t pids[TREE_SPARED_MAX];
  size_t count = ending->segment ? segment_programs(ending->segment, end, pids, TREE_SPARED_MAX) : 0;
  for (size_t i = 0; i < count; i++) kill(pids[i], number); // children of ours, not waited for yet
}

static void tell_left_behind(const struct ending *ending) {
  struct process_list list;
  struct rd_error ignored;
  if (!process_list_below(getpid(), &list, &ignored)) return;
  for (size_t i = 0; i < list.count; i++) {
    char command[200];
    process_command(list.items[i].pid, command, sizeof command);
    control_tell(ending->agent->control, event_left_behind(list.items[i].pid, command));
  }
  process_list_clear(&list);
}

static void on_again(void *context) {
  struct ending *ending = context;
  loop_timer(ending->agent->loop, &ending->again, LOOK_AGAIN_MS, on_again, ending);
  ending_look(ending);
}
