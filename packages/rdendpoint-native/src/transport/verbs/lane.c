// SPDX-License-Identifier: Apache-2.0
#include "transport/verbs/lane.h"

#include "base/io.h"
#include "transport/verbs/error.h"

#include <limits.h>
#include <poll.h>
#include <stdlib.h>

#define COMPLETIONS_AT_ONCE 16
#define ROUNDS_MAX 16 // in one call, however much the peer sends

static bool open_all(struct rd_verbs_lane *lane, struct rd_error *error);
static void post(struct rd_verbs_lane *lane);
static void check_events(struct rd_verbs_lane *lane);
static bool spin_for_more(struct rd_verbs_lane *lane);
static bool arm_wait(struct rd_verbs_lane *lane);
static bool take_completions(struct rd_verbs_lane *lane);
static bool take_all(struct rd_verbs_lane *lane, const struct rd_verbs_completions *from, struct rd_error *flushed);
static bool take_completion(struct rd_verbs_lane *lane, const struct ibv_wc *completion, struct rd_error *error);
static void take_events(struct rd_verbs_lane *lane);
static void take_event(struct rd_verbs_lane *lane, const struct rd_verbs_event *event);
static void fail(struct rd_verbs_lane *lane, const struct rd_error *error);
static bool is_alive(const struct rd_verbs_lane *lane, struct rd_error *error);
static void linger(struct rd_verbs_lane *lane, int64_t until_ms);

struct rd_verbs_lane *rd_verbs_lane_create(struct rd_verbs_id *id, bool poll, struct rd_error *error) {
  struct rd_verbs_lane *lane = calloc(1, sizeof *lane);
  if (lane == NULL) {
    rd_verbs_id_destroy(id);
    rd_error_set(error, RD_CODE_INTERNAL, "no memory for a connection");
    return NULL;
  }
  lane->id = *id;
  lane->releases_matter = true;
  rd_verbs_wait_init(&lane->wait, poll);
  rd_verbs_flow_init(&lane->flow);
  rd_verbs_id_peer(id, lane->peer);
  if (open_all(lane, error)) return lane;
  rd_verbs_lane_destroy(lane, 0);
  return NULL;
}

static bool open_all(struct rd_verbs_lane *lane, struct rd_error *error) {
  return rd_verbs_queue_open(&lane->queue, &lane->id, error) &&
         rd_verbs_receive_open(&lane->receive, &lane->queue, &lane->flow, error) &&
         rd_verbs_send_open(&lane->send, &lane->queue, &lane->flow, error) &&
         rd_verbs_wait_open(&lane->wait, &lane->queue, &lane->id, error);
}

void rd_verbs_lane_established(struct rd_verbs_lane *lane) {
  lane->established = true;
}

void rd_verbs_lane_share(struct rd_verbs_lane *lane) {
  lane->receive.is_numbered = true;
  lane->wait.spin = (struct rd_verbs_spin){.pays = false};
}

bool rd_verbs_lane_arm(struct rd_verbs_lane *lane, unsigned slots, size_t payload_bytes, struct rd_error *error) {
  return rd_verbs_receive_arm(&lane->receive, slots, payload_bytes, error) && rd_verbs_send_arm(&lane->send, error);
}

enum rd_outcome rd_verbs_lane_send(struct rd_verbs_lane *lane, const struct iovec *parts, int count, uint64_t index,
                                   unsigned number, struct rd_error *error) {
  uint64_t *place = &lane->indices[lane->send.accepted % RD_VERBS_SEND_QUEUE_MAX];
  enum rd_outcome accepted = rd_verbs_send_accept(&lane->send, parts, count, number, error);
  if (accepted == RD_OUTCOME_DONE) *place = index;
  return accepted;
}

bool rd_verbs_lane_flush(struct rd_verbs_lane *lane, struct rd_error *error) {
  post(lane);
  // If there is nothing to do but wait, it is worth making system calls to check whether the peer is still there.
  if (lane->releases_matter && lane->send.released < lane->send.accepted) check_events(lane);
  do {
    take_completions(lane);
    post(lane);
  } while (!arm_wait(lane));
  // Wakes a caller that asked before this and would otherwise wait.
  if (lane->releases_matter && lane->send.released > lane->released_at) rd_verbs_wait_wake(&lane->wait);
  lane->released_at = lane->send.released;
  return is_alive(lane, error);
}

void rd_verbs_lane_count_released(struct rd_verbs_lane *lane, struct rd_release_count *released) {
  for (; lane->counted < lane->send.released; lane->counted++)
    rd_release_count_add(released, lane->indices[lane->counted % RD_VERBS_SEND_QUEUE_MAX]);
}

unsigned rd_verbs_lane_load(const struct rd_verbs_lane *lane) {
  const struct rd_verbs_send *send = &lane->send;
  return send->posted < send->accepted ? UINT_MAX : (unsigned)(send->accepted - send->released);
}

int rd_verbs_lane_fd(const struct rd_verbs_lane *lane) {
  return lane->wait.epoll_fd;
}

// Posts waiting messages, and the counts of this end's own buffers if no message carries them.
static void post(struct rd_verbs_lane *lane) {
  struct rd_error error;
  if (!lane->established || lane->failure.code != RD_CODE_OK) return;
  bool good = rd_verbs_send_post(&lane->send, &error);
  if (good && rd_verbs_flow_is_due(&lane->flow, rd_verbs_receive_circulating(&lane->receive)))
    good = rd_verbs_send_post_counts(&lane->send, &error);
  if (!good) fail(lane, &error);
}

void rd_verbs_lane_expect_releases(struct rd_verbs_lane *lane, bool expected) {
  lane->releases_matter = expected;
  lane->released_at = lane->send.released;
}

void rd_verbs_lane_quiet(struct rd_verbs_lane *lane) {
  lane->events_taken = true;
}

// Messages that arrived before a failure are returned first.
enum rd_outcome rd_verbs_lane_receive(struct rd_verbs_lane *lane, struct rd_message *message, unsigned *number,
                                      struct rd_error *error) {
  for (;;) {
    take_completions(lane);
    enum rd_outcome received = rd_verbs_receive_next(&lane->receive, message, number, error);
    post(lane); // the peer may wait for this end's counts while it keeps this end busy
    if (received != RD_OUTCOME_AGAIN) return received;
    bool was_well = lane->failure.code == RD_CODE_OK;
    if (!lane->events_taken) check_events(lane);
    lane->events_taken = true;
    post(lane);
    if (was_well && lane->failure.code != RD_CODE_OK) continue; // the peer may have sent something before it ended
    if (is_alive(lane, error) && (spin_for_more(lane) || !arm_wait(lane))) continue;
    lane->events_taken = false;
    lane->released_at = lane->send.released;
    bool may_go_on = lane->failure.code == RD_CODE_OK || lane->receive.pieces_count > 0;
    return may_go_on ? RD_OUTCOME_AGAIN : RD_OUTCOME_FAILED;
  }
}

// Busy-polls before a wake-up is requested.
static bool spin_for_more(struct rd_verbs_lane *lane) {
  if (lane->queue.arrived.armed || lane->wait.poll || lane->wait.spin.budget_ns == 0) return false;
  int64_t until_ns = rd_now_ns() + lane->wait.spin.budget_ns;
  do {
    if (take_completions(lane)) return true;
  } while (rd_now_ns() < until_ns);
  rd_verbs_spin_missed(&lane->wait.spin);
  return false;
}

static void check_events(struct rd_verbs_lane *lane) {
  if (rd_verbs_wait_check(&lane->wait)) take_events(lane);
}

// Returns false if completions must be taken first.
static bool arm_wait(struct rd_verbs_lane *lane) {
  bool sends_matter = lane->releases_matter || rd_verbs_send_is_full(&lane->send);
  return rd_verbs_wait_arm(&lane->wait, sends_matter && lane->send.completed < lane->send.sends);
}

void rd_verbs_lane_give_back(struct rd_verbs_lane *lane, const struct rd_message *message) {
  struct rd_error error;
  if (!rd_verbs_receive_give_back(&lane->receive, message, &error)) fail(lane, &error);
  if (lane->receive.pieces_count > 0) rd_verbs_wait_wake(&lane->wait);
}

// Returns true if something arrived. A flushed buffer or SEND only shows that the connection ended; another failed
// completion, in either queue, has the reason.
static bool take_completions(struct rd_verbs_lane *lane) {
  struct rd_error flushed = {.code = RD_CODE_OK};
  take_all(lane, &lane->queue.sent, &flushed);
  bool any = take_all(lane, &lane->queue.arrived, &flushed);
  if (flushed.code != RD_CODE_OK) fail(lane, &flushed);
  return any;
}

static bool take_all(struct rd_verbs_lane *lane, const struct rd_verbs_completions *from, struct rd_error *flushed) {
  struct ibv_wc completions[COMPLETIONS_AT_ONCE];
  struct rd_error error;
  for (int round = 0; round < ROUNDS_MAX; round++) {
    int count = rd_verbs_queue_poll(from, completions, COMPLETIONS_AT_ONCE);
    if (count < 0) {
      rd_error_set(&error, RD_CODE_PEER_LOST, "the RDMA device failed");
      fail(lane, &error);
    }
    for (int i = 0; i < count; i++) {
      if (take_completion(lane, &completions[i], &error)) continue;
      if (completions[i].status == IBV_WC_WR_FLUSH_ERR)
        *flushed = error;
      else
        fail(lane, &error);
    }
    if (count < COMPLETIONS_AT_ONCE) return round > 0 || count > 0;
  }
  rd_verbs_wait_wake(&lane->wait); // the next call takes the rest
  return true;
}

static bool take_completion(struct rd_verbs_lane *lane, const struct ibv_wc *completion, struct rd_error *error) {
  bool is_receive = (completion->wr_id & RD_VERBS_RECEIVE_WR) != 0;
  if (completion->status != IBV_WC_SUCCESS) {
    rd_verbs_completion_failed(lane->id.verbs, completion, lane->peer, error);
    return false;
  }
  if (is_receive != (completion->opcode == IBV_WC_RECV) || (!is_receive && completion->opcode != IBV_WC_SEND)) {
    rd_error_set(error, RD_CODE_DATA_DAMAGED, "the RDMA device completed operation %d, which was not posted",
                 (int)completion->opcode);
    return false;
  }
  lane->established = true; // a completion proves this as well, and may come before the id's event
  if (is_receive) return rd_verbs_receive_arrived(&lane->receive, completion->wr_id, completion->byte_len, error);
  rd_verbs_send_completed(&lane->send);
  return true;
}

static void take_events(struct rd_verbs_lane *lane) {
  struct rd_verbs_event event;
  while (rd_verbs_id_next(&lane->id, &event)) take_event(lane, &event);
}

static void take_event(struct rd_verbs_lane *lane, const struct rd_verbs_event *event) {
  struct rd_error error;
  if (event->type == RDMA_CM_EVENT_ESTABLISHED)
    lane->established = true;
  else if (rd_verbs_event_ends(event, lane->peer, &error))
    fail(lane, &error);
}

// Keeps only the first failure.
static void fail(struct rd_verbs_lane *lane, const struct rd_error *error) {
  if (lane->failure.code == RD_CODE_OK) lane->failure = *error;
}

static bool is_alive(const struct rd_verbs_lane *lane, struct rd_error *error) {
  if (lane->failure.code == RD_CODE_OK) return true;
  *error = lane->failure;
  return false;
}

// Order matters: queue pair, completions, channel, memory, domain, id. A second call does nothing.
void rd_verbs_lane_disconnect(struct rd_verbs_lane *lane) {
  if (lane->established) lane->id.verbs->rdma_disconnect(lane->id.id);
  lane->established = false;
  rd_verbs_queue_close(&lane->queue);
  rd_verbs_send_close(&lane->send);
  rd_verbs_receive_detach(&lane->receive);
  rd_verbs_queue_close_domain(&lane->queue);
  rd_verbs_id_destroy(&lane->id);
  rd_verbs_wait_close(&lane->wait);
}

void rd_verbs_lane_destroy(struct rd_verbs_lane *lane, int64_t until_ms) {
  if (lane == NULL) return;
  if (lane->established) linger(lane, until_ms);
  rd_verbs_lane_disconnect(lane);
  rd_verbs_receive_close(&lane->receive);
  free(lane);
}

static void linger(struct rd_verbs_lane *lane, int64_t until_ms) {
  for (;;) {
    take_completions(lane);
    take_events(lane);
    int64_t left_ms = until_ms - rd_now_ms();
    if (lane->send.completed == lane->send.sends || lane->failure.code != RD_CODE_OK || left_ms <= 0) return;
    lane->releases_matter = true;
    if (!arm_wait(lane)) continue;
    rd_wait_fd(lane->wait.epoll_fd, POLLIN, lane->wait.poll ? 1 : (int)left_ms);
    (void)rd_verbs_queue_woken(&lane->queue);
  }
}
