// SPDX-License-Identifier: Apache-2.0
// The sending half of an RDMA connection: splits messages into SENDs that fit the peer's buffers.
#ifndef RD_TRANSPORT_VERBS_SEND_H
#define RD_TRANSPORT_VERBS_SEND_H

#include "base/outcome.h"
#include "transport/verbs/flow.h"
#include "transport/verbs/queue.h"

#include <sys/uio.h>

#define RD_VERBS_SEND_QUEUE_MAX 16u // messages accepted and not released
#define RD_VERBS_SEND_PARTS_MAX 4
#define RD_VERBS_SEND_STAGE_BYTES 2048u // per SEND: the preamble, and small parts, which are copied
#define RD_VERBS_SEND_EARLY_STAGES 4u   // before authentication
#define RD_VERBS_SEND_REGISTERED_MAX 8u

struct rd_verbs_send_part {
  const unsigned char *bytes;
  size_t count;
  uint32_t key;
  bool is_copied;            // into the stage
  struct ibv_mr *registered; // for this message only; NULL: it was already registered, or is copied
};

struct rd_verbs_send_message {
  struct rd_verbs_send_part parts[RD_VERBS_SEND_PARTS_MAX];
  int count;
  unsigned number; // 0 without numbers
  size_t bytes, posted_bytes;
  unsigned sends; // in flight
};

// Memory for `count` SENDs in flight, RD_VERBS_SEND_STAGE_BYTES each.
struct rd_verbs_send_stages {
  unsigned char *memory; // NULL: none
  struct ibv_mr *region;
  unsigned count;
};

struct rd_verbs_send {
  struct rd_verbs_queue *queue;
  struct rd_verbs_flow *flow;
  struct rd_verbs_send_stages early, all; // `all`: once armed
  struct ibv_mr *registered[RD_VERBS_SEND_REGISTERED_MAX];
  unsigned registered_count;
  size_t registered_bytes, registered_most_bytes; // including single messages; beyond the latter messages wait
  bool lacks_memory;                              // the next message waits until a registered one is finished
  struct rd_verbs_send_message messages[RD_VERBS_SEND_QUEUE_MAX];
  uint64_t accepted, posted, released;       // number of messages so far
  uint64_t sends, completed;                 // number of SENDs so far
  uint64_t owners[RD_VERBS_QUEUE_SENDS_MAX]; // the message of each SEND, or RD_VERBS_SEND_NO_MESSAGE
};
#define RD_VERBS_SEND_NO_MESSAGE UINT64_MAX

// Creates the early stages. Returns false on failure.
bool rd_verbs_send_open(struct rd_verbs_send *send, struct rd_verbs_queue *queue, struct rd_verbs_flow *flow,
                        struct rd_error *error);
// Call after authentication: from now on RD_VERBS_QUEUE_SENDS_MAX SENDs may be in flight.
bool rd_verbs_send_arm(struct rd_verbs_send *send, struct rd_error *error);
// Call after the queue pair is destroyed. All zeros are allowed.
void rd_verbs_send_close(struct rd_verbs_send *send);

// Implements the transport's register_memory(), at most RD_VERBS_SEND_REGISTERED_MAX times.
bool rd_verbs_send_register(struct rd_verbs_send *send, const void *memory, size_t bytes, struct rd_error *error);
// Implements the transport's send(), for a message with this number (0 without numbers).
enum rd_outcome rd_verbs_send_accept(struct rd_verbs_send *send, const struct iovec *parts, int count, unsigned number,
                                     struct rd_error *error);
// Posts as many SENDs as the peer has buffers for.
bool rd_verbs_send_post(struct rd_verbs_send *send, struct rd_error *error);
// Returns true if a SEND must complete before the next message can be accepted or posted.
bool rd_verbs_send_is_full(const struct rd_verbs_send *send);
// Posts a SEND without a message, if the peer has a buffer for it.
bool rd_verbs_send_post_counts(struct rd_verbs_send *send, struct rd_error *error);
// The oldest SEND has completed.
void rd_verbs_send_completed(struct rd_verbs_send *send);

#endif
