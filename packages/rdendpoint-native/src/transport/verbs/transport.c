// SPDX-License-Identifier: Apache-2.0
#include "transport/verbs/transport.h"

#include "base/io.h"
#include "transport/verbs/error.h"
#include "transport/verbs/memory.h"
#include "transport/verbs/receive.h"
#include "transport/verbs/send.h"
#include "transport/verbs/wait.h"

#include <poll.h>
#include <stdint.h>
#include <stdlib.h>

#define COMPLETIONS_AT_ONCE 16
#define ROUNDS_MAX 16 // in one call, however much the peer sends
// Time for posted SENDs to arrive: as with close() on a socket, ending the connection does not cut them off.
#define LINGER_MS 200

struct verbs {
  struct rd_transport base;
  struct rd_verbs_id id;
  struct rd_verbs_queue queue;
  struct rd_verbs_flow flow;
  struct rd_verbs_send send;
  struct rd_verbs_receive receive;
  struct rd_verbs_wait wait;
  bool events_taken;    // since the last AGAIN: the descriptors have no more events
  bool releases_matter; // the caller waits for releases
  uint64_t released_at; // the count that the caller last saw
  bool established;
  struct rd_error failure; // RD_CODE_OK: none so far
  char local[RD_SOCKET_ADDRESS_TEXT_BYTES];
  char peer[RD_SOCKET_ADDRESS_TEXT_BYTES];
};

static unsigned verbs_lanes_most(const struct rd_transport *transport);
static uint32_t verbs_rtt_us(const struct rd_transport *transport);
static void verbs_expect_lanes(struct rd_transport *transport, unsigned most, unsigned first);
static bool verbs_join(struct rd_transport *transport, struct rd_transport *lane, struct rd_error *error);
static bool verbs_arm(struct rd_transport *transport, unsigned slots, size_t payload_bytes, struct rd_error *error);
static size_t verbs_memory_most_bytes(const struct rd_transport *transport);
static bool verbs_register(struct rd_transport *transport, const void *memory, size_t bytes, struct rd_error *error);
static int verbs_poll_fd(const struct rd_transport *transport);
static short verbs_poll_events(const struct rd_transport *transport);
static enum rd_outcome verbs_send(struct rd_transport *transport, const struct iovec *parts, int count,
                                  struct rd_error *error);
static bool verbs_flush(struct rd_transport *transport, struct rd_error *error);
static uint64_t verbs_released(const struct rd_transport *transport);
static void verbs_expect_releases(struct rd_transport *transport, bool expected);
static void verbs_quiet(struct rd_transport *transport);
static enum rd_outcome verbs_receive(struct rd_transport *transport, struct rd_message *message,
                                     struct rd_error *error);
static void verbs_give_back(struct rd_transport *transport, const struct rd_message *message);
static const char *verbs_local_name(const struct rd_transport *transport);
static const char *verbs_peer_name(const struct rd_transport *transport);
static const char *verbs_device_name(const struct rd_transport *transport);
static int64_t verbs_silent_ms(const struct rd_transport *transport);
static void verbs_tune_long_path(struct rd_transport *transport, size_t window_bytes, bool congestion);
static void verbs_limits(const struct rd_transport *transport, struct rd_limits *limits);
static void verbs_disconnect(struct rd_transport *transport);
static void verbs_destroy(struct rd_transport *transport);

static bool open_all(struct verbs *verbs, struct rd_error *error);
static void post(struct verbs *verbs);
static void check_events(struct verbs *verbs);
static bool spin_for_more(struct verbs *verbs);
static bool arm_wait(struct verbs *verbs);
static bool take_completions(struct verbs *verbs);
static bool take_all(struct verbs *verbs, const struct rd_verbs_completions *from, struct rd_error *flushed);
static bool take_completion(struct verbs *verbs, const struct ibv_wc *completion, struct rd_error *error);
static void take_events(struct verbs *verbs);
static void take_event(struct verbs *verbs, const struct rd_verbs_event *event);
static void fail(struct verbs *verbs, const struct rd_error *error);
static bool is_alive(const struct verbs *verbs, struct rd_error *error);
static void close_device(struct verbs *verbs);
static void linger(struct verbs *verbs);
static struct verbs *verbs_of(const struct rd_transport *transport);

static const struct rd_transport_ops verbs_ops = {
    .name = "rdma",
    .lanes_most = verbs_lanes_most,
    .rtt_us = verbs_rtt_us,
    .expect_lanes = verbs_expect_lanes,
    .join = verbs_join,
    .arm = verbs_arm,
    .memory_most_bytes = verbs_memory_most_bytes,
    .register_memory = verbs_register,
    .poll_fd = verbs_poll_fd,
    .poll_events = verbs_poll_events,
    .send = verbs_send,
    .flush = verbs_flush,
    .released = verbs_released,
    .expect_releases = verbs_expect_releases,
    .quiet = verbs_quiet,
    .receive = verbs_receive,
    .give_back = verbs_give_back,
    .local_name = verbs_local_name,
    .peer_name = verbs_peer_name,
    .device_name = verbs_device_name,
    .silent_ms = verbs_silent_ms,
    .tune_long_path = verbs_tune_long_path,
    .limits = verbs_limits,
    .disconnect = verbs_disconnect,
    .destroy = verbs_destroy,
};

struct rd_transport *rd_verbs_transport_create(struct rd_verbs_id *id, bool poll, struct rd_error *error) {
  struct verbs *verbs = calloc(1, sizeof *verbs);
  if (verbs == NULL) {
    rd_verbs_id_destroy(id);
    rd_error_set(error, RD_CODE_INTERNAL, "no memory for a connection");
    return NULL;
  }
  verbs->base.ops = &verbs_ops;
  verbs->id = *id;
  verbs->releases_matter = true;
  rd_verbs_wait_init(&verbs->wait, poll);
  rd_verbs_flow_init(&verbs->flow);
  rd_verbs_id_local(id, verbs->local);
  rd_verbs_id_peer(id, verbs->peer);
  if (open_all(verbs, error)) return &verbs->base;
  verbs_destroy(&verbs->base);
  return NULL;
}

struct rd_verbs_id *rd_verbs_transport_id(struct rd_transport *transport) {
  return &verbs_of(transport)->id;
}

void rd_verbs_transport_established(struct rd_transport *transport) {
  struct verbs *verbs = verbs_of(transport);
  verbs->established = true;
  rd_verbs_id_local(&verbs->id, verbs->local);
}

static bool open_all(struct verbs *verbs, struct rd_error *error) {
  return rd_verbs_queue_open(&verbs->queue, &verbs->id, error) &&
         rd_verbs_receive_open(&verbs->receive, &verbs->queue, &verbs->flow, error) &&
         rd_verbs_send_open(&verbs->send, &verbs->queue, &verbs->flow, error) &&
         rd_verbs_wait_open(&verbs->wait, &verbs->queue, &verbs->id, error);
}

static unsigned verbs_lanes_most(const struct rd_transport *transport) {
  (void)transport;
  return 1;
}

static uint32_t verbs_rtt_us(const struct rd_transport *transport) {
  (void)transport;
  return 0;
}

static void verbs_expect_lanes(struct rd_transport *transport, unsigned most, unsigned first) {
  (void)transport, (void)most, (void)first;
}

static bool verbs_join(struct rd_transport *transport, struct rd_transport *lane, struct rd_error *error) {
  (void)transport;
  rd_transport_destroy(lane);
  rd_error_set(error, RD_CODE_INTERNAL, "this transport has one lane");
  return false;
}

static bool verbs_arm(struct rd_transport *transport, unsigned slots, size_t payload_bytes, struct rd_error *error) {
  struct verbs *verbs = verbs_of(transport);
  return rd_verbs_receive_arm(&verbs->receive, slots, payload_bytes, error) && rd_verbs_send_arm(&verbs->send, error);
}

static size_t verbs_memory_most_bytes(const struct rd_transport *transport) {
  (void)transport;
  return rd_verbs_lockable_bytes();
}

static bool verbs_register(struct rd_transport *transport, const void *memory, size_t bytes, struct rd_error *error) {
  return rd_verbs_send_register(&verbs_of(transport)->send, memory, bytes, error);
}

static int verbs_poll_fd(const struct rd_transport *transport) {
  return verbs_of(transport)->wait.epoll_fd;
}

static short verbs_poll_events(const struct rd_transport *transport) {
  (void)transport;
  return POLLIN; // also to learn that sending is possible again
}

static enum rd_outcome verbs_send(struct rd_transport *transport, const struct iovec *parts, int count,
                                  struct rd_error *error) {
  return rd_verbs_send_accept(&verbs_of(transport)->send, parts, count, error);
}

static bool verbs_flush(struct rd_transport *transport, struct rd_error *error) {
  struct verbs *verbs = verbs_of(transport);
  post(verbs);
  // If there is nothing to do but wait, it is worth making system calls to check whether the peer is still there.
  if (verbs->releases_matter && verbs->send.released < verbs->send.accepted) check_events(verbs);
  do {
    take_completions(verbs);
    post(verbs);
  } while (!arm_wait(verbs));
  // Wakes a caller that asked before this and would otherwise wait.
  if (verbs->releases_matter && verbs->send.released > verbs->released_at) rd_verbs_wait_wake(&verbs->wait);
  verbs->released_at = verbs->send.released;
  return is_alive(verbs, error);
}

// Posts waiting messages, and the counts of this end's own buffers if no message carries them.
static void post(struct verbs *verbs) {
  struct rd_error error;
  if (!verbs->established || verbs->failure.code != RD_CODE_OK) return;
  bool good = rd_verbs_send_post(&verbs->send, &error);
  if (good && rd_verbs_flow_is_due(&verbs->flow, rd_verbs_receive_circulating(&verbs->receive)))
    good = rd_verbs_send_post_counts(&verbs->send, &error);
  if (!good) fail(verbs, &error);
}

static uint64_t verbs_released(const struct rd_transport *transport) {
  return verbs_of(transport)->send.released;
}

static void verbs_expect_releases(struct rd_transport *transport, bool expected) {
  struct verbs *verbs = verbs_of(transport);
  verbs->releases_matter = expected;
  verbs->released_at = verbs->send.released;
}

static void verbs_quiet(struct rd_transport *transport) {
  verbs_of(transport)->events_taken = true;
}

// Messages that arrived before a failure are returned first.
static enum rd_outcome verbs_receive(struct rd_transport *transport, struct rd_message *message,
                                     struct rd_error *error) {
  struct verbs *verbs = verbs_of(transport);
  for (;;) {
    take_completions(verbs);
    enum rd_outcome received = rd_verbs_receive_next(&verbs->receive, message, error);
    post(verbs); // the peer may wait for this end's counts while it keeps this end busy
    if (received != RD_OUTCOME_AGAIN) return received;
    bool was_well = verbs->failure.code == RD_CODE_OK;
    if (!verbs->events_taken) check_events(verbs);
    verbs->events_taken = true;
    post(verbs);
    if (was_well && verbs->failure.code != RD_CODE_OK) continue; // the peer may have sent something before it ended
    if (is_alive(verbs, error) && (spin_for_more(verbs) || !arm_wait(verbs))) continue;
    verbs->events_taken = false;
    verbs->released_at = verbs->send.released;
    bool may_go_on = verbs->failure.code == RD_CODE_OK || verbs->receive.pieces_count > 0;
    return may_go_on ? RD_OUTCOME_AGAIN : RD_OUTCOME_FAILED;
  }
}

// Busy-polls before a wake-up is requested.
static bool spin_for_more(struct verbs *verbs) {
  if (verbs->queue.arrived.armed || verbs->wait.poll || verbs->wait.spin.budget_ns == 0) return false;
  int64_t until_ns = rd_now_ns() + verbs->wait.spin.budget_ns;
  do {
    if (take_completions(verbs)) return true;
  } while (rd_now_ns() < until_ns);
  rd_verbs_spin_missed(&verbs->wait.spin);
  return false;
}

static void check_events(struct verbs *verbs) {
  if (rd_verbs_wait_check(&verbs->wait)) take_events(verbs);
}

// Returns false if completions must be taken first.
static bool arm_wait(struct verbs *verbs) {
  bool sends_matter = verbs->releases_matter || rd_verbs_send_is_full(&verbs->send);
  return rd_verbs_wait_arm(&verbs->wait, sends_matter && verbs->send.completed < verbs->send.sends);
}

static void verbs_give_back(struct rd_transport *transport, const struct rd_message *message) {
  struct verbs *verbs = verbs_of(transport);
  struct rd_error error;
  if (!rd_verbs_receive_give_back(&verbs->receive, message, &error)) fail(verbs, &error);
  if (verbs->receive.pieces_count > 0) rd_verbs_wait_wake(&verbs->wait);
}

// Returns true if something arrived. A flushed buffer or SEND only shows that the connection ended; another failed
// completion, in either queue, has the reason.
static bool take_completions(struct verbs *verbs) {
  struct rd_error flushed = {.code = RD_CODE_OK};
  take_all(verbs, &verbs->queue.sent, &flushed);
  bool any = take_all(verbs, &verbs->queue.arrived, &flushed);
  if (flushed.code != RD_CODE_OK) fail(verbs, &flushed);
  return any;
}

static bool take_all(struct verbs *verbs, const struct rd_verbs_completions *from, struct rd_error *flushed) {
  struct ibv_wc completions[COMPLETIONS_AT_ONCE];
  struct rd_error error;
  for (int round = 0; round < ROUNDS_MAX; round++) {
    int count = rd_verbs_queue_poll(from, completions, COMPLETIONS_AT_ONCE);
    if (count < 0) {
      rd_error_set(&error, RD_CODE_PEER_LOST, "the RDMA device failed");
      fail(verbs, &error);
    }
    for (int i = 0; i < count; i++) {
      if (take_completion(verbs, &completions[i], &error)) continue;
      if (completions[i].status == IBV_WC_WR_FLUSH_ERR)
        *flushed = error;
      else
        fail(verbs, &error);
    }
    if (count < COMPLETIONS_AT_ONCE) return round > 0 || count > 0;
  }
  rd_verbs_wait_wake(&verbs->wait); // the next call takes the rest
  return true;
}

static bool take_completion(struct verbs *verbs, const struct ibv_wc *completion, struct rd_error *error) {
  bool is_receive = (completion->wr_id & RD_VERBS_RECEIVE_WR) != 0;
  if (completion->status != IBV_WC_SUCCESS) {
    rd_verbs_completion_failed(verbs->id.verbs, completion, verbs->peer, error);
    return false;
  }
  if (is_receive != (completion->opcode == IBV_WC_RECV) || (!is_receive && completion->opcode != IBV_WC_SEND)) {
    rd_error_set(error, RD_CODE_DATA_DAMAGED, "the RDMA device completed operation %d, which was not posted",
                 (int)completion->opcode);
    return false;
  }
  verbs->established = true; // a completion proves this as well, and may come before the id's event
  if (is_receive) return rd_verbs_receive_arrived(&verbs->receive, completion->wr_id, completion->byte_len, error);
  rd_verbs_send_completed(&verbs->send);
  return true;
}

static void take_events(struct verbs *verbs) {
  struct rd_verbs_event event;
  while (rd_verbs_id_next(&verbs->id, &event)) take_event(verbs, &event);
}

static void take_event(struct verbs *verbs, const struct rd_verbs_event *event) {
  struct rd_error error;
  if (event->type == RDMA_CM_EVENT_ESTABLISHED)
    verbs->established = true;
  else if (rd_verbs_event_ends(event, verbs->peer, &error))
    fail(verbs, &error);
}

// Keeps only the first failure.
static void fail(struct verbs *verbs, const struct rd_error *error) {
  if (verbs->failure.code == RD_CODE_OK) verbs->failure = *error;
}

static bool is_alive(const struct verbs *verbs, struct rd_error *error) {
  if (verbs->failure.code == RD_CODE_OK) return true;
  *error = verbs->failure;
  return false;
}

static const char *verbs_local_name(const struct rd_transport *transport) {
  return verbs_of(transport)->local;
}

static const char *verbs_peer_name(const struct rd_transport *transport) {
  return verbs_of(transport)->peer;
}

static const char *verbs_device_name(const struct rd_transport *transport) {
  const struct verbs *verbs = verbs_of(transport);
  return verbs->id.verbs->ibv_get_device_name(verbs->id.id->verbs->device);
}

static int64_t verbs_silent_ms(const struct rd_transport *transport) {
  (void)transport;
  return INT64_MAX;
}

static void verbs_tune_long_path(struct rd_transport *transport, size_t window_bytes, bool congestion) {
  (void)transport, (void)window_bytes, (void)congestion;
}

static void verbs_limits(const struct rd_transport *transport, struct rd_limits *limits) {
  (void)transport;
  *limits = (struct rd_limits){0};
}

static void verbs_disconnect(struct rd_transport *transport) {
  close_device(verbs_of(transport));
}

static void verbs_destroy(struct rd_transport *transport) {
  struct verbs *verbs = verbs_of(transport);
  if (verbs->established) linger(verbs);
  close_device(verbs);
  rd_verbs_receive_close(&verbs->receive);
  free(verbs);
}

// Order matters: queue pair, completions, channel, memory, domain, id. A second call does nothing.
static void close_device(struct verbs *verbs) {
  if (verbs->established) verbs->id.verbs->rdma_disconnect(verbs->id.id);
  verbs->established = false;
  rd_verbs_queue_close(&verbs->queue);
  rd_verbs_send_close(&verbs->send);
  rd_verbs_receive_detach(&verbs->receive);
  rd_verbs_queue_close_domain(&verbs->queue);
  rd_verbs_id_destroy(&verbs->id);
  rd_verbs_wait_close(&verbs->wait);
}

static void linger(struct verbs *verbs) {
  int64_t until_ms = rd_now_ms() + LINGER_MS;
  for (;;) {
    take_completions(verbs);
    take_events(verbs);
    int64_t left_ms = until_ms - rd_now_ms();
    if (verbs->send.completed == verbs->send.sends || verbs->failure.code != RD_CODE_OK || left_ms <= 0) return;
    verbs->releases_matter = true;
    if (!arm_wait(verbs)) continue;
    rd_wait_fd(verbs->wait.epoll_fd, POLLIN, verbs->wait.poll ? 1 : (int)left_ms);
    (void)rd_verbs_queue_woken(&verbs->queue);
  }
}

static struct verbs *verbs_of(const struct rd_transport *transport) {
  return (struct verbs *)(uintptr_t)transport;
}
