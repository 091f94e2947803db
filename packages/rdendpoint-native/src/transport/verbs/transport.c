// SPDX-License-Identifier: Apache-2.0
// Messages over the queue pairs of one connection, which may be those of several devices.
#include "transport/verbs/transport.h"

#include "base/io.h"
#include "transport/lanes.h"
#include "transport/verbs/lane.h"
#include "transport/verbs/memory.h"

#include <limits.h>
#include <poll.h>
#include <stdint.h>
#include <stdlib.h>

// Time for posted SENDs to arrive: as with close() on a socket, ending the connection does not cut them off.
#define LINGER_MS 200
// With fewer, a lane waits for each return of a slot to be announced.
#define LANE_SLOTS_MIN 4u
#define LANE_SHIFT 24u // in a message's slot, below the bit that receive.c uses
#define LANE_MASK ((RD_LANES_MAX - 1) << LANE_SHIFT)

// Memory to send from, which each lane's device has to know.
struct memory {
  const void *bytes;
  size_t count;
};

struct verbs {
  struct rd_transport base;
  struct rd_lanes lanes;
  struct rd_verbs_lane *each[RD_LANES_MAX];
  unsigned slots_each;  // of each lane; 0: not armed
  size_t payload_bytes; // of a slot
  struct memory memory[RD_VERBS_SEND_REGISTERED_MAX];
  unsigned memory_count;
  char local[RD_SOCKET_ADDRESS_TEXT_BYTES];
};

static unsigned verbs_lanes_most(const struct rd_transport *transport);
static uint32_t verbs_rtt_us(const struct rd_transport *transport);
static void verbs_expect_lanes(struct rd_transport *transport, unsigned most, unsigned first);
static bool verbs_join(struct rd_transport *transport, struct rd_transport *joining, struct rd_error *error);
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

static bool prepare_lane(const struct verbs *verbs, struct rd_verbs_lane *lane, struct rd_error *error);
static struct rd_verbs_lane *lane_for(const struct verbs *verbs, const struct iovec *parts, int count);
static rd_lane_receive receive_from;
static struct verbs *verbs_of(const struct rd_transport *transport);
static struct rd_verbs_lane *first_of(const struct rd_transport *transport);

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
  struct rd_verbs_lane *lane = rd_verbs_lane_create(id, poll, error);
  if (lane == NULL) return NULL;
  struct verbs *verbs = calloc(1, sizeof *verbs);
  if (verbs == NULL) {
    rd_error_set(error, RD_CODE_INTERNAL, "no memory for a connection");
    rd_verbs_lane_destroy(lane, 0);
    return NULL;
  }
  verbs->base.ops = &verbs_ops;
  rd_lanes_init(&verbs->lanes);
  verbs->each[0] = lane;
  rd_verbs_id_local(&lane->id, verbs->local);
  return &verbs->base;
}

struct rd_verbs_id *rd_verbs_transport_id(struct rd_transport *transport) {
  return &first_of(transport)->id;
}

void rd_verbs_transport_established(struct rd_transport *transport) {
  rd_verbs_lane_established(first_of(transport));
  rd_verbs_id_local(&first_of(transport)->id, verbs_of(transport)->local);
}

// Each lane locks memory of its own, and the send buffer once more: only without a limit is there enough.
static unsigned verbs_lanes_most(const struct rd_transport *transport) {
  return verbs_memory_most_bytes(transport) == SIZE_MAX ? RD_LANES_MAX : 1;
}

static uint32_t verbs_rtt_us(const struct rd_transport *transport) {
  (void)transport;
  return 0;
}

static void verbs_expect_lanes(struct rd_transport *transport, unsigned most, unsigned first) {
  struct verbs *verbs = verbs_of(transport);
  rd_lanes_expect(&verbs->lanes, most, first);
  rd_verbs_lane_share(verbs->each[0]);
}

static bool verbs_join(struct rd_transport *transport, struct rd_transport *joining, struct rd_error *error) {
  struct verbs *verbs = verbs_of(transport), *other = verbs_of(joining);
  bool may_join = rd_lanes_may_join(&verbs->lanes, joining->ops == &verbs_ops, first_of(transport)->peer, error);
  struct rd_verbs_lane *lane = may_join ? other->each[0] : NULL;
  if (!may_join || !prepare_lane(verbs, lane, error) ||
      !rd_lanes_add(&verbs->lanes, rd_verbs_lane_fd(verbs->each[0]), rd_verbs_lane_fd(lane), error)) {
    rd_transport_destroy(joining);
    return false;
  }
  verbs->each[verbs->lanes.count - 1] = lane;
  other->lanes.count = 0; // the lane is this transport's now
  rd_transport_destroy(joining);
  return true;
}

static bool prepare_lane(const struct verbs *verbs, struct rd_verbs_lane *lane, struct rd_error *error) {
  rd_verbs_lane_share(lane);
  lane->counted = lane->send.accepted; // messages of its handshake
  rd_verbs_lane_expect_releases(lane, verbs->each[0]->releases_matter);
  for (unsigned i = 0; i < verbs->memory_count; i++)
    if (!rd_verbs_send_register(&lane->send, verbs->memory[i].bytes, verbs->memory[i].count, error)) return false;
  return verbs->slots_each == 0 || rd_verbs_lane_arm(lane, verbs->slots_each, verbs->payload_bytes, error);
}

// Each lane has a part of the slots. A message that is missing always finds one: its lane's slots have only messages
// before it.
static bool verbs_arm(struct rd_transport *transport, unsigned slots, size_t payload_bytes, struct rd_error *error) {
  struct verbs *verbs = verbs_of(transport);
  unsigned most = verbs->lanes.most, least = most > 1 ? LANE_SLOTS_MIN : slots;
  unsigned part = (slots + most - 1) / most;
  verbs->slots_each = part > least ? part : least;
  verbs->payload_bytes = payload_bytes;
  for (unsigned i = 0; i < verbs->lanes.count; i++)
    if (!rd_verbs_lane_arm(verbs->each[i], verbs->slots_each, payload_bytes, error)) return false;
  return true;
}

static size_t verbs_memory_most_bytes(const struct rd_transport *transport) {
  (void)transport;
  return rd_verbs_lockable_bytes();
}

static bool verbs_register(struct rd_transport *transport, const void *memory, size_t bytes, struct rd_error *error) {
  struct verbs *verbs = verbs_of(transport);
  for (unsigned i = 0; i < verbs->lanes.count; i++)
    if (!rd_verbs_send_register(&verbs->each[i]->send, memory, bytes, error)) return false;
  verbs->memory[verbs->memory_count++] = (struct memory){memory, bytes};
  return true;
}

static int verbs_poll_fd(const struct rd_transport *transport) {
  const struct verbs *verbs = verbs_of(transport);
  return verbs->lanes.count > 1 ? verbs->lanes.epoll_fd : rd_verbs_lane_fd(verbs->each[0]);
}

static short verbs_poll_events(const struct rd_transport *transport) {
  (void)transport;
  return POLLIN; // also to learn that sending is possible again
}

static enum rd_outcome verbs_send(struct rd_transport *transport, const struct iovec *parts, int count,
                                  struct rd_error *error) {
  struct verbs *verbs = verbs_of(transport);
  struct rd_verbs_lane *lane = lane_for(verbs, parts, count);
  if (lane == NULL) return RD_OUTCOME_AGAIN;
  rd_verbs_lane_count_released(lane, &verbs->lanes.released); // before its place is used again
  unsigned number = rd_lanes_next_number(&verbs->lanes);
  enum rd_outcome accepted = rd_verbs_lane_send(lane, parts, count, verbs->lanes.accepted, number, error);
  if (accepted == RD_OUTCOME_DONE) verbs->lanes.accepted++;
  return accepted;
}

// NULL: none can take the message now. The lane with the fewest messages under way is that of the faster network.
static struct rd_verbs_lane *lane_for(const struct verbs *verbs, const struct iovec *parts, int count) {
  size_t bytes = 0;
  unsigned least = UINT_MAX;
  struct rd_verbs_lane *best = NULL;
  for (int i = 0; i < count; i++) bytes += parts[i].iov_len;
  if (verbs->lanes.count == 1 || bytes <= RD_SHORT_MESSAGE_BYTES) return verbs->each[0];
  for (unsigned i = 0; i < verbs->lanes.count; i++) {
    unsigned load = rd_verbs_lane_load(verbs->each[i]);
    if (load >= least) continue;
    least = load;
    best = verbs->each[i];
  }
  return best;
}

static bool verbs_flush(struct rd_transport *transport, struct rd_error *error) {
  struct verbs *verbs = verbs_of(transport);
  for (unsigned i = 0; i < verbs->lanes.count; i++) {
    bool alive = rd_verbs_lane_flush(verbs->each[i], error);
    rd_verbs_lane_count_released(verbs->each[i], &verbs->lanes.released);
    if (!alive) return false;
  }
  return true;
}

static uint64_t verbs_released(const struct rd_transport *transport) {
  return verbs_of(transport)->lanes.released.prefix;
}

static void verbs_expect_releases(struct rd_transport *transport, bool expected) {
  const struct verbs *verbs = verbs_of(transport);
  for (unsigned i = 0; i < verbs->lanes.count; i++) rd_verbs_lane_expect_releases(verbs->each[i], expected);
}

static void verbs_quiet(struct rd_transport *transport) {
  const struct verbs *verbs = verbs_of(transport);
  for (unsigned i = 0; i < verbs->lanes.count; i++) rd_verbs_lane_quiet(verbs->each[i]);
}

static enum rd_outcome verbs_receive(struct rd_transport *transport, struct rd_message *message,
                                     struct rd_error *error) {
  struct verbs *verbs = verbs_of(transport);
  return rd_lanes_receive(&verbs->lanes, receive_from, verbs, first_of(transport)->peer, message, error);
}

static enum rd_outcome receive_from(void *transport, unsigned lane, struct rd_message *message, unsigned *number,
                                    struct rd_error *error) {
  struct verbs *verbs = transport;
  enum rd_outcome received = rd_verbs_lane_receive(verbs->each[lane], message, number, error);
  rd_verbs_lane_count_released(verbs->each[lane], &verbs->lanes.released);
  if (received == RD_OUTCOME_DONE) message->slot |= lane << LANE_SHIFT;
  return received;
}

static void verbs_give_back(struct rd_transport *transport, const struct rd_message *message) {
  const struct verbs *verbs = verbs_of(transport);
  struct rd_message own = *message;
  own.slot &= ~LANE_MASK;
  rd_verbs_lane_give_back(verbs->each[(message->slot & LANE_MASK) >> LANE_SHIFT], &own);
}

static const char *verbs_local_name(const struct rd_transport *transport) {
  return verbs_of(transport)->local;
}

static const char *verbs_peer_name(const struct rd_transport *transport) {
  return first_of(transport)->peer;
}

static const char *verbs_device_name(const struct rd_transport *transport) {
  const struct rd_verbs_id *id = &first_of(transport)->id;
  return id->verbs->ibv_get_device_name(id->id->verbs->device);
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
  const struct verbs *verbs = verbs_of(transport);
  for (unsigned i = 0; i < verbs->lanes.count; i++) rd_verbs_lane_disconnect(verbs->each[i]);
}

static void verbs_destroy(struct rd_transport *transport) {
  struct verbs *verbs = verbs_of(transport);
  int64_t until_ms = rd_now_ms() + LINGER_MS;
  for (unsigned i = 0; i < verbs->lanes.count; i++) rd_verbs_lane_destroy(verbs->each[i], until_ms);
  rd_lanes_close(&verbs->lanes);
  free(verbs);
}

static struct verbs *verbs_of(const struct rd_transport *transport) {
  return (struct verbs *)(uintptr_t)transport;
}

static struct rd_verbs_lane *first_of(const struct rd_transport *transport) {
  return verbs_of(transport)->each[0];
}
