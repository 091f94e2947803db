// SPDX-License-Identifier: Apache-2.0
// RDMA flow control over posted buffers: pure bookkeeping for one end.
// See docs/protocol/wire.md, section 1.
// It knows which buffer of the peer the next SEND uses, and when to announce newly posted buffers to the peer.
#ifndef RD_TRANSPORT_VERBS_FLOW_H
#define RD_TRANSPORT_VERBS_FLOW_H

#include "base/error.h"

#include <stddef.h>
#include <stdint.h>

#define RD_VERBS_PREAMBLE_BYTES 16u
#define RD_VERBS_SMALL_BUFFERS 8u         // at each end initially
#define RD_VERBS_SMALL_BUFFER_BYTES 4096u // of a message; the preamble comes before it
#define RD_VERBS_LARGE_BUFFERS_MAX 65536u // the most that a peer may have posted and not used

// The first bytes of every SEND.
struct rd_verbs_preamble {
  uint32_t message; // length of the message that this SEND carries a piece of, and its number above; 0: none
  uint32_t small_posted, large_posted;
  uint32_t large_bytes; // largest message for a large buffer; 0 while there is none
};

void rd_verbs_preamble_encode(const struct rd_verbs_preamble *preamble, unsigned char out[RD_VERBS_PREAMBLE_BYTES]);
void rd_verbs_preamble_decode(const unsigned char bytes[RD_VERBS_PREAMBLE_BYTES], struct rd_verbs_preamble *preamble);

struct rd_verbs_flow {
  struct rd_verbs_preamble ours;      // posted by this end; `message` is unused
  struct rd_verbs_preamble announced; // the part of `ours` that the peer knows
  struct rd_verbs_preamble peers;     // announced by the peer
  uint32_t small_used, large_used;    // number of the peer's buffers that were used
};

// Each end begins with RD_VERBS_SMALL_BUFFERS posted and announced.
void rd_verbs_flow_init(struct rd_verbs_flow *flow);

// This end posted one more buffer. A large one holds a message of `bytes` bytes, always the same number.
void rd_verbs_flow_post_small(struct rd_verbs_flow *flow);
void rd_verbs_flow_post_large(struct rd_verbs_flow *flow, uint32_t bytes);

// Fills in the preamble of the next SEND, which announces the current counts.
void rd_verbs_flow_announce(struct rd_verbs_flow *flow, uint32_t message, struct rd_verbs_preamble *preamble);
// Returns true if half of this end's `circulating` buffers are not announced: a SEND without a message is then due,
// unless another SEND goes out.
bool rd_verbs_flow_is_due(const struct rd_verbs_flow *flow, uint32_t circulating);
// A SEND arrived. Returns false (RD_CODE_DATA_DAMAGED) if its counts are impossible.
bool rd_verbs_flow_take(struct rd_verbs_flow *flow, const struct rd_verbs_preamble *preamble, struct rd_error *error);

// Returns true if a SEND may be posted. The last buffer is reserved for a SEND without a message.
bool rd_verbs_flow_has_buffer(const struct rd_verbs_flow *flow, bool with_message);
// Returns how many bytes of a message fit into the next SEND.
size_t rd_verbs_flow_room_bytes(const struct rd_verbs_flow *flow);
void rd_verbs_flow_spend(struct rd_verbs_flow *flow);

#endif
