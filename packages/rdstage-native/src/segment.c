// SPDX-License-Identifier: Apache-2.0
#include "segment.h"

#include "event.h"
#include "link.h"
#include "memory.h"
#include "prepare.h"
#include "stage.h"

#include <stdlib.h>

// After everything else has ended: what still holds a standard error then is left alone.
#define STDERR_GRACE_MS 1000

struct segment {
  struct agent *agent;
  struct prepare_spec *prepare;
  enum { SEGMENT_OPENING, SEGMENT_PREPARED, SEGMENT_RUNNING, SEGMENT_ENDED } state;
  struct stage **stages; // the commands
  size_t stage_count;
  struct link **links;
  size_t link_count;
  struct timer stderr_grace;
};

static void make_stages(struct segment *segment);
static void make_links(struct segment *segment);
static struct link *link_of(const struct segment *segment, const struct stage *stage, enum hop_side end);
static void open_links(struct segment *segment);
static void on_changed(void *context);
static bool all_ready(const struct segment *segment);
static void check_end(struct segment *segment);
static bool processes_are_over(const struct segment *segment);
static bool stderrs_are_over(const struct segment *segment);
static void on_stderr_grace(void *context);
static struct hop *find_hop(const struct segment *segment, int64_t link, enum hop_side end, struct rd_error *error);

struct segment *segment_create(struct agent *agent, struct prepare_spec *prepare) {
  struct segment *segment = memory_new(1, sizeof *segment);
  segment->agent = agent;
  segment->prepare = prepare;
  make_stages(segment);
  make_links(segment);
  open_links(segment);
  on_changed(segment);
  return segment;
}

void segment_destroy(struct segment *segment) {
  if (!segment) return;
  loop_timer_stop(segment->agent->loop, &segment->stderr_grace);
  for (size_t i = 0; i < segment->link_count; i++) link_destroy(segment->links[i]);
  for (size_t i = 0; i < segment->stage_count; i++) stage_destroy(segment->stages[i]);
  free(segment->links);
  free(segment->stages);
  prepare_destroy(segment->prepare);
  free(segment);
}

bool segment_connect(struct segment *segment, const struct request *request, struct rd_error *error) {
  struct hop *hop = find_hop(segment, request->link, request->end, error);
  if (hop) hop_connect(hop, request->order);
  return hop;
}

// Consumers first: a producer finds its reader there.
bool segment_go(struct segment *segment, unsigned number, struct rd_error *error) {
  if (segment->state != SEGMENT_PREPARED || number != segment->prepare->segment) {
    rd_error_set(error, RD_CODE_USAGE, "the agent was told to go on before it was ready");
    return false;
  }
  segment->state = SEGMENT_RUNNING;
  for (size_t i = segment->stage_count; i-- > 0;) {
    struct stage *stage = segment->stages[i];
    int in_fd = link_input_fd(link_of(segment, stage, HOP_RECV));
    int out_fd = link_output_fd(link_of(segment, stage, HOP_SEND));
    if (stage->state == STAGE_WAITING) stage_start(stage, in_fd, out_fd);
  }
  for (size_t i = 0; i < segment->link_count; i++) link_go(segment->links[i]);
  check_end(segment);
  return true;
}

bool segment_has_ended(const struct segment *segment) {
  return segment->state == SEGMENT_ENDED;
}

void segment_acknowledge_stderr(struct segment *segment, unsigned stage, uint64_t bytes) {
  for (size_t i = 0; i < segment->stage_count; i++)
    if (segment->stages[i]->spec->number == stage && segment->stages[i]->relay)
      stderr_relay_acknowledge(segment->stages[i]->relay, bytes);
}

void segment_drain(struct segment *segment) {
  for (size_t i = 0; i < segment->link_count; i++) {
    struct hop *send = link_hop(segment->links[i], HOP_SEND), *recv = link_hop(segment->links[i], HOP_RECV);
    if (send) hop_drain(send);
    if (recv) hop_drain(recv);
  }
}

void segment_child_ended(struct segment *segment, pid_t pid, int status, const struct rd_usage *usage) {
  for (size_t i = 0; i < segment->stage_count; i++) {
    struct stage *stage = segment->stages[i];
    if (stage->state != STAGE_RUNNING || stage->pid != pid) continue;
    stage_reaped(stage, status, usage);
    return;
  }
  for (size_t i = 0; i < segment->link_count; i++) {
    struct hop *send = link_hop(segment->links[i], HOP_SEND), *recv = link_hop(segment->links[i], HOP_RECV);
    if (send && hop_child_ended(send, pid, status, usage)) return;
    if (recv && hop_child_ended(recv, pid, status, usage)) return;
  }
}

void segment_abort(struct segment *segment, const char *reason) {
  for (size_t i = 0; i < segment->stage_count; i++) stage_mark_stopped(segment->stages[i]);
  for (size_t i = 0; i < segment->link_count; i++) link_abort(segment->links[i], reason);
}

void segment_expect_exit(struct segment *segment) {
  for (size_t i = 0; i < segment->link_count; i++) link_expect_exit(segment->links[i]);
}

bool segment_ends_are_over(const struct segment *segment, enum hop_side end) {
  pid_t running;
  return segment_programs(segment, end, &running, 1) == 0;
}

void segment_release(struct segment *segment) {
  for (size_t i = 0; i < segment->link_count; i++) link_release(segment->links[i]);
}

void segment_close_stderr(struct segment *segment) {
  for (size_t i = 0; i < segment->stage_count; i++)
    if (segment->stages[i]->relay) stderr_relay_close(segment->stages[i]->relay);
}

void segment_hand_over(struct segment *segment, struct held_write_ends *held) {
  for (size_t i = 0; i < segment->link_count; i++) link_hand_over(segment->links[i], held);
}

size_t segment_programs(const struct segment *segment, enum hop_side end, pid_t *pids, size_t most) {
  size_t count = 0;
  for (size_t i = 0; i < segment->link_count && count < most; i++) {
    const struct hop *hop = link_hop(segment->links[i], end);
    pid_t pid = hop ? hop_pid(hop) : -1;
    if (pid > 0) pids[count++] = pid;
  }
  return count;
}

static void make_stages(struct segment *segment) {
  const struct prepare_spec *prepare = segment->prepare;
  struct stage_handler handler = {.changed = on_changed, .context = segment};
  segment->stages = memory_new(prepare->stage_count, sizeof(struct stage *));
  for (size_t i = 0; i < prepare->stage_count; i++) {
    if (prepare->stages[i].kind != STAGE_COMMAND) continue;
    segment->stages[segment->stage_count++] =
        stage_create(segment->agent, &prepare->stages[i], prepare->lenient, &handler);
  }
}

static void make_links(struct segment *segment) {
  const struct prepare_spec *prepare = segment->prepare;
  struct link_handler handler = {.changed = on_changed, .context = segment};
  segment->links = memory_new(prepare->link_count, sizeof(struct link *));
  for (size_t i = 0; i < prepare->link_count; i++)
    segment->links[segment->link_count++] = link_create(segment->agent, prepare, &prepare->links[i], &handler);
  for (size_t i = 0; i < segment->stage_count; i++) {
    struct stage *stage = segment->stages[i];
    link_set_consumer(link_of(segment, stage, HOP_RECV), stage);
    link_set_producer(link_of(segment, stage, HOP_SEND), stage);
  }
}

// Never NULL: the request was checked for it.
static struct link *link_of(const struct segment *segment, const struct stage *stage, enum hop_side end) {
  const struct link_spec *spec = prepare_link_of(segment->prepare, stage->spec, end);
  return segment->links[spec - segment->prepare->links];
}

static void open_links(struct segment *segment) {
  struct rd_error error;
  for (size_t i = 0; i < segment->link_count; i++)
    if (!link_open(segment->links[i], &error))
      control_emit(segment->agent->control, event_failed(0, error.code, error.message));
}

static void on_changed(void *context) {
  struct segment *segment = context;
  if (segment->state == SEGMENT_OPENING && all_ready(segment)) {
    segment->state = SEGMENT_PREPARED;
    control_emit(segment->agent->control, event_segment("prepared", segment->prepare->segment));
  }
  if (segment->state == SEGMENT_RUNNING) check_end(segment);
}

static bool all_ready(const struct segment *segment) {
  for (size_t i = 0; i < segment->link_count; i++)
    if (!link_is_ready(segment->links[i])) return false;
  return true;
}

static void check_end(struct segment *segment) {
  if (!processes_are_over(segment)) return;
  if (!stderrs_are_over(segment)) {
    if (!segment->stderr_grace.function)
      loop_timer(segment->agent->loop, &segment->stderr_grace, STDERR_GRACE_MS, on_stderr_grace, segment);
    return;
  }
  loop_timer_stop(segment->agent->loop, &segment->stderr_grace);
  for (size_t i = 0; i < segment->stage_count; i++) stage_end_rest(segment->stages[i]);
  segment->state = SEGMENT_ENDED;
  control_emit(segment->agent->control, event_segment("segment_ended", segment->prepare->segment));
}

static bool processes_are_over(const struct segment *segment) {
  for (size_t i = 0; i < segment->stage_count; i++)
    if (segment->stages[i]->state != STAGE_ENDED) return false;
  return segment_ends_are_over(segment, HOP_SEND) && segment_ends_are_over(segment, HOP_RECV);
}

static bool stderrs_are_over(const struct segment *segment) {
  for (size_t i = 0; i < segment->stage_count; i++) {
    const struct stderr_relay *relay = segment->stages[i]->relay;
    if (relay && !stderr_relay_has_ended(relay)) return false;
  }
  return true;
}

// A process that was left in the background may hold a standard error for ever. What it wrote so far goes on.
static void on_stderr_grace(void *context) {
  struct segment *segment = context;
  for (size_t i = 0; i < segment->stage_count; i++) {
    struct stderr_relay *relay = segment->stages[i]->relay;
    if (relay && stderr_relay_is_idle(relay)) stderr_relay_close(relay);
  }
  check_end(segment);
}

static struct hop *find_hop(const struct segment *segment, int64_t link, enum hop_side end, struct rd_error *error) {
  for (size_t i = 0; i < segment->link_count; i++) {
    struct hop *hop = link_hop(segment->links[i], end);
    if (hop && link_spec(segment->links[i])->number == link && link_spec(segment->links[i])->kind == LINK_HOP)
      return hop;
  }
  rd_error_set(error, RD_CODE_USAGE, "the agent was told to connect an end that it does not have");
  return NULL;
}
