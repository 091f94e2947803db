// SPDX-License-Identifier: Apache-2.0
#include "run/segment.h"

#include "base/cleanup.h"
#include "base/memory.h"
#include "protocol/event.h"
#include "protocol/prepare.h"
#include "run/link.h"
#include "run/stage.h"

#include <stdlib.h>

// Counted after everything else has ended; a process that still holds a standard error then is left running.
#define STDERR_GRACE_MS 1000

struct rd_segment {
  struct rd_agent *agent;
  struct rd_prepare_spec *prepare;
  enum { SEGMENT_OPENING, SEGMENT_PREPARED, SEGMENT_RUNNING, SEGMENT_ENDED } state;
  struct rd_stage **stages; // stages that have a process
  size_t stage_count;
  struct rd_link **links;
  size_t link_count;
  struct rd_timer stderr_grace;
};

static void make_stages(struct rd_segment *segment);
static void make_links(struct rd_segment *segment);
static struct rd_link *link_of(const struct rd_segment *segment, const struct rd_stage *stage, enum rd_hop_side side);
static void start_stage(const struct rd_segment *segment, struct rd_stage *stage);
static bool reads(const struct rd_stage *stage, const struct rd_link *link);
static void open_links(struct rd_segment *segment);
static bool join_relay(const struct rd_segment *segment, struct rd_link *link, struct rd_error *error);
static void on_changed(void *context);
static bool all_ready(const struct rd_segment *segment);
static void check_end(struct rd_segment *segment);
static bool processes_are_over(const struct rd_segment *segment);
static bool stderrs_are_over(const struct rd_segment *segment);
static void on_stderr_grace(void *context);
static struct rd_hop *find_hop(const struct rd_segment *segment, int64_t link, enum rd_hop_side side,
                               struct rd_error *error);

struct rd_segment *rd_segment_create(struct rd_agent *agent, struct rd_prepare_spec *prepare) {
  struct rd_segment *segment = rd_memory_new(1, sizeof *segment);
  segment->agent = agent;
  segment->prepare = prepare;
  make_stages(segment);
  make_links(segment);
  open_links(segment);
  on_changed(segment);
  return segment;
}

void rd_segment_destroy(struct rd_segment *segment) {
  if (segment == NULL) return;
  rd_loop_timer_stop(segment->agent->loop, &segment->stderr_grace);
  for (size_t i = 0; i < segment->link_count; i++) rd_link_destroy(segment->links[i]);
  for (size_t i = 0; i < segment->stage_count; i++) rd_stage_destroy(segment->stages[i]);
  free(segment->links);
  free(segment->stages);
  rd_prepare_destroy(segment->prepare);
  free(segment);
}

bool rd_segment_connect(struct rd_segment *segment, const struct rd_request *request, struct rd_error *error) {
  struct rd_hop *hop = find_hop(segment, request->link, request->side, error);
  if (hop == NULL) return false;
  if (request->op == RD_REQUEST_REJOIN)
    rd_hop_rejoin(hop, request->object);
  else
    rd_hop_connect(hop, request->object);
  return true;
}

// Starts consumers first: a producer must have its reader.
bool rd_segment_go(struct rd_segment *segment, unsigned number, struct rd_error *error) {
  if (segment->state != SEGMENT_PREPARED || number != segment->prepare->segment) {
    rd_error_set(error, RD_CODE_USAGE, "rdpipe sent go before the segment was ready");
    return false;
  }
  segment->state = SEGMENT_RUNNING;
  for (size_t i = segment->stage_count; i-- > 0;) {
    if (segment->stages[i]->state == RD_STAGE_WAITING) start_stage(segment, segment->stages[i]);
  }
  for (size_t i = 0; i < segment->link_count; i++) rd_link_go(segment->links[i]);
  check_end(segment);
  return true;
}

bool rd_segment_has_ended(const struct rd_segment *segment) {
  return segment->state == SEGMENT_ENDED;
}

void rd_segment_acknowledge_stderr(struct rd_segment *segment, unsigned stage, uint64_t bytes) {
  for (size_t i = 0; i < segment->stage_count; i++)
    if (segment->stages[i]->spec->number == stage && segment->stages[i]->relay != NULL)
      rd_stderr_relay_acknowledge(segment->stages[i]->relay, bytes);
}

void rd_segment_drain(struct rd_segment *segment) {
  for (size_t i = 0; i < segment->link_count; i++) {
    struct rd_hop *send = rd_link_hop(segment->links[i], RD_SIDE_SEND),
                  *recv = rd_link_hop(segment->links[i], RD_SIDE_RECV);
    if (send != NULL) rd_hop_drain(send);
    if (recv != NULL) rd_hop_drain(recv);
  }
}

void rd_segment_child_ended(struct rd_segment *segment, pid_t pid, int status, const struct rd_usage *usage) {
  for (size_t i = 0; i < segment->stage_count; i++) {
    struct rd_stage *stage = segment->stages[i];
    if (stage->state != RD_STAGE_RUNNING || stage->pid != pid) continue;
    rd_stage_reaped(stage, status, usage);
    return;
  }
  for (size_t i = 0; i < segment->link_count; i++) {
    struct rd_hop *send = rd_link_hop(segment->links[i], RD_SIDE_SEND),
                  *recv = rd_link_hop(segment->links[i], RD_SIDE_RECV);
    if (send != NULL && rd_hop_child_ended(send, pid, status, usage)) return;
    if (recv != NULL && rd_hop_child_ended(recv, pid, status, usage)) return;
  }
}

void rd_segment_abort(struct rd_segment *segment, const char *reason) {
  for (size_t i = 0; i < segment->stage_count; i++) rd_stage_mark_stopped(segment->stages[i]);
  for (size_t i = 0; i < segment->link_count; i++) rd_link_abort(segment->links[i], reason);
}

void rd_segment_expect_exit(struct rd_segment *segment) {
  for (size_t i = 0; i < segment->link_count; i++) rd_link_expect_exit(segment->links[i]);
}

bool rd_segment_ends_are_over(const struct rd_segment *segment, enum rd_hop_side side) {
  pid_t running;
  return rd_segment_programs(segment, side, &running, 1) == 0;
}

void rd_segment_release(struct rd_segment *segment) {
  for (size_t i = 0; i < segment->link_count; i++) rd_link_release(segment->links[i]);
}

void rd_segment_close_stderr(struct rd_segment *segment) {
  for (size_t i = 0; i < segment->stage_count; i++)
    if (segment->stages[i]->relay != NULL) rd_stderr_relay_close(segment->stages[i]->relay);
}

void rd_segment_hand_over(struct rd_segment *segment, struct rd_held_write_ends *held) {
  for (size_t i = 0; i < segment->link_count; i++) rd_link_hand_over(segment->links[i], held);
}

size_t rd_segment_programs(const struct rd_segment *segment, enum rd_hop_side side, pid_t *pids, size_t most) {
  size_t count = 0;
  for (size_t i = 0; i < segment->link_count && count < most; i++) {
    const struct rd_hop *hop = rd_link_hop(segment->links[i], side);
    pid_t pid = hop != NULL ? rd_hop_pid(hop) : -1;
    if (pid > 0) pids[count++] = pid;
  }
  return count;
}

size_t rd_segment_trees(const struct rd_segment *segment, pid_t *pids, size_t most) {
  size_t count = 0;
  for (size_t i = 0; i < segment->stage_count && count < most; i++) {
    const struct rd_stage *stage = segment->stages[i];
    bool is_ours = stage->spec->kind == RD_STAGE_TREE || stage->spec->kind == RD_STAGE_FORWARD;
    if (is_ours && stage->state == RD_STAGE_RUNNING) pids[count++] = stage->pid;
  }
  return count;
}

static void make_stages(struct rd_segment *segment) {
  const struct rd_prepare_spec *prepare = segment->prepare;
  struct rd_stage_handler handler = {.changed = on_changed, .context = segment};
  segment->stages = rd_memory_new(prepare->stage_count, sizeof(struct rd_stage *));
  for (size_t i = 0; i < prepare->stage_count; i++) {
    if (rd_prepare_is_file(&prepare->stages[i])) continue;
    segment->stages[segment->stage_count++] =
        rd_stage_create(segment->agent, &prepare->stages[i], prepare->lenient || prepare->stages[i].lenient, &handler);
  }
}

static void make_links(struct rd_segment *segment) {
  const struct rd_prepare_spec *prepare = segment->prepare;
  struct rd_link_handler handler = {.changed = on_changed, .context = segment};
  segment->links = rd_memory_new(prepare->link_count, sizeof(struct rd_link *));
  for (size_t i = 0; i < prepare->link_count; i++)
    segment->links[segment->link_count++] = rd_link_create(segment->agent, prepare, &prepare->links[i], &handler);
  for (size_t i = 0; i < segment->stage_count; i++) {
    struct rd_stage *stage = segment->stages[i];
    for (size_t j = 0; j < segment->link_count; j++)
      if (reads(stage, segment->links[j])) rd_link_set_consumer(segment->links[j], stage);
    rd_link_set_producer(link_of(segment, stage, RD_SIDE_SEND), stage);
  }
}

// Passes a stage with several inputs one descriptor per link, in the order of its links.
static void start_stage(const struct rd_segment *segment, struct rd_stage *stage) {
  struct rd_link *input = link_of(segment, stage, RD_SIDE_RECV), *output = link_of(segment, stage, RD_SIDE_SEND);
  struct rd_ring_fds *ring = rd_link_ring(rd_link_ring(input)->memory >= 0 ? input : output);
  size_t count = stage->spec->in_count;
  RD_AUTO_FREE int *inputs = rd_memory_new(count, sizeof *inputs);
  for (size_t i = 0; i < count; i++)
    for (size_t j = 0; j < segment->link_count; j++)
      if (rd_link_spec(segment->links[j])->number == stage->spec->ins[i] && reads(stage, segment->links[j]))
        inputs[i] = rd_link_input_fd(segment->links[j]);
  struct rd_stage_fds fds = {.in = count > 0 ? segment->agent->null_fd : rd_link_input_fd(input),
                             .out = rd_link_output_fd(output),
                             .inputs = inputs,
                             .ring = *ring};
  rd_stage_start(stage, &fds);
  rd_ring_fds_close(ring); // its other side must notice when the stage has ended
}

static bool reads(const struct rd_stage *stage, const struct rd_link *link) {
  const struct rd_link_spec *spec = rd_link_spec(link);
  bool is_sender = spec->kind == RD_LINK_HOP && spec->side == RD_SIDE_SEND;
  return !is_sender && rd_prepare_joins(stage->spec, spec->number, RD_SIDE_RECV);
}

// Never returns NULL: rd_prepare_decode() has checked the stage.
static struct rd_link *link_of(const struct rd_segment *segment, const struct rd_stage *stage, enum rd_hop_side side) {
  const struct rd_link_spec *spec = rd_prepare_link_of(segment->prepare, stage->spec, side);
  return segment->links[spec - segment->prepare->links];
}

static void open_links(struct rd_segment *segment) {
  struct rd_error error;
  for (size_t i = 0; i < segment->link_count; i++)
    if (!join_relay(segment, segment->links[i], &error))
      rd_control_line_emit(segment->agent->control, rd_event_failed(0, error.code, error.message));
  for (size_t i = 0; i < segment->link_count; i++)
    if (!rd_link_open(segment->links[i], &error))
      rd_control_line_emit(segment->agent->control, rd_event_failed(0, error.code, error.message));
}

// Joins a link that passes on a stream to the link that receives the stream here.
static bool join_relay(const struct rd_segment *segment, struct rd_link *link, struct rd_error *error) {
  int64_t relay = rd_link_spec(link)->relay;
  for (size_t i = 0; i < segment->link_count && relay >= 0; i++) {
    const struct rd_link_spec *spec = rd_link_spec(segment->links[i]);
    bool receives = spec->kind == RD_LINK_LOCAL || spec->side == RD_SIDE_RECV;
    if (spec->number == relay && receives) return rd_link_join_relay(segment->links[i], link, error);
  }
  return true;
}

static void on_changed(void *context) {
  struct rd_segment *segment = context;
  if (segment->state == SEGMENT_OPENING && all_ready(segment)) {
    segment->state = SEGMENT_PREPARED;
    rd_control_line_emit(segment->agent->control, rd_event_segment("prepared", segment->prepare->segment));
  }
  if (segment->state == SEGMENT_RUNNING) check_end(segment);
}

static bool all_ready(const struct rd_segment *segment) {
  for (size_t i = 0; i < segment->link_count; i++)
    if (!rd_link_is_ready(segment->links[i])) return false;
  return true;
}

static void check_end(struct rd_segment *segment) {
  if (!processes_are_over(segment)) return;
  if (!stderrs_are_over(segment)) {
    if (segment->stderr_grace.function == NULL)
      rd_loop_timer(segment->agent->loop, &segment->stderr_grace, STDERR_GRACE_MS, on_stderr_grace, segment);
    return;
  }
  rd_loop_timer_stop(segment->agent->loop, &segment->stderr_grace);
  for (size_t i = 0; i < segment->stage_count; i++) rd_stage_kill_remaining(segment->stages[i]);
  segment->state = SEGMENT_ENDED;
  rd_control_line_emit(segment->agent->control, rd_event_segment("segment_ended", segment->prepare->segment));
}

static bool processes_are_over(const struct rd_segment *segment) {
  for (size_t i = 0; i < segment->stage_count; i++)
    if (segment->stages[i]->state != RD_STAGE_ENDED) return false;
  return rd_segment_ends_are_over(segment, RD_SIDE_SEND) && rd_segment_ends_are_over(segment, RD_SIDE_RECV);
}

static bool stderrs_are_over(const struct rd_segment *segment) {
  for (size_t i = 0; i < segment->stage_count; i++) {
    const struct rd_stderr_relay *relay = segment->stages[i]->relay;
    if (relay != NULL && !rd_stderr_relay_has_ended(relay)) return false;
  }
  return true;
}

// A background process may hold a standard error open for ever. Its output so far is passed on.
static void on_stderr_grace(void *context) {
  struct rd_segment *segment = context;
  for (size_t i = 0; i < segment->stage_count; i++) {
    struct rd_stderr_relay *relay = segment->stages[i]->relay;
    if (relay != NULL && rd_stderr_relay_is_idle(relay)) rd_stderr_relay_close(relay);
  }
  check_end(segment);
}

static struct rd_hop *find_hop(const struct rd_segment *segment, int64_t link, enum rd_hop_side side,
                               struct rd_error *error) {
  for (size_t i = 0; i < segment->link_count; i++) {
    struct rd_hop *hop = rd_link_hop(segment->links[i], side);
    if (hop != NULL && rd_link_spec(segment->links[i])->number == link &&
        rd_link_spec(segment->links[i])->kind == RD_LINK_HOP)
      return hop;
  }
  rd_error_set(error, RD_CODE_USAGE, "rdpipe sent a request for an end of a hop that the agent does not have");
  return NULL;
}
