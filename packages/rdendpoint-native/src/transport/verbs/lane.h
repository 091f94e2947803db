// SPDX-License-Identifier: Apache-2.0
// One reliable connected queue pair of an RDMA connection.
#ifndef RD_TRANSPORT_VERBS_LANE_H
#define RD_TRANSPORT_VERBS_LANE_H

#include "base/address.h"
#include "transport/reorder.h"
#include "transport/verbs/receive.h"
#include "transport/verbs/send.h"
#include "transport/verbs/wait.h"

struct rd_verbs_lane {
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
  struct rd_error failure;                   // RD_CODE_OK: none so far
  uint64_t indices[RD_VERBS_SEND_QUEUE_MAX]; // of the accepted messages, among all of the transport
  uint64_t counted;                          // messages of which the transport knows that they are released
  char peer[RD_SOCKET_ADDRESS_TEXT_BYTES];
};

// Creates a queue pair with posted buffers on the device of `id`. Takes ownership of `id`, even on failure. Call before
// rdma_connect() or rdma_accept(). `poll`: never request wake-ups. NULL on failure.
struct rd_verbs_lane *rd_verbs_lane_create(struct rd_verbs_id *id, bool poll, struct rd_error *error);
// The connection is established: the lane may send from now on.
void rd_verbs_lane_established(struct rd_verbs_lane *lane);
// The lane is one of several: its messages have numbers, and it does not busy-poll, because another may be ready.
void rd_verbs_lane_share(struct rd_verbs_lane *lane);

// These implement the transport's operations of the same name for this lane. `index`: of the message, among all of the
// transport.
bool rd_verbs_lane_arm(struct rd_verbs_lane *lane, unsigned slots, size_t payload_bytes, struct rd_error *error);
enum rd_outcome rd_verbs_lane_send(struct rd_verbs_lane *lane, const struct iovec *parts, int count, uint64_t index,
                                   unsigned number, struct rd_error *error);
bool rd_verbs_lane_flush(struct rd_verbs_lane *lane, struct rd_error *error);
void rd_verbs_lane_expect_releases(struct rd_verbs_lane *lane, bool expected);
void rd_verbs_lane_quiet(struct rd_verbs_lane *lane);
enum rd_outcome rd_verbs_lane_receive(struct rd_verbs_lane *lane, struct rd_message *message, unsigned *number,
                                      struct rd_error *error);
void rd_verbs_lane_give_back(struct rd_verbs_lane *lane, const struct rd_message *message);
void rd_verbs_lane_disconnect(struct rd_verbs_lane *lane);

// Counts the messages that were released since the last call.
void rd_verbs_lane_count_released(struct rd_verbs_lane *lane, struct rd_release_count *released);
// Returns how many messages are accepted and not released; UINT_MAX if one of them waits for the peer's buffers.
unsigned rd_verbs_lane_load(const struct rd_verbs_lane *lane);
int rd_verbs_lane_fd(const struct rd_verbs_lane *lane);

// Waits until all SENDs have arrived, but no longer than until `until_ms`, and frees the lane. Accepts NULL.
void rd_verbs_lane_destroy(struct rd_verbs_lane *lane, int64_t until_ms);

#endif
