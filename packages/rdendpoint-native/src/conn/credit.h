// SPDX-License-Identifier: Apache-2.0
// Credits of a hop (docs/protocol/wire.md, section 1.3): pure bookkeeping for one end.
#ifndef RD_CONN_CREDIT_H
#define RD_CONN_CREDIT_H

#include "base/error.h"
#include "wire/window.h"

#include <stddef.h>
#include <stdint.h>

struct rd_credit {
  uint32_t slots, small_slots;
  uint64_t frames;   // sender: DATA frames sent; receiver: DATA frames consumed
  uint64_t returned; // sender: frames acknowledged by the last ACK; receiver: frames in its own last ACK
  // Sender: the numbers of the frames that used a small slot; those in [small_returned, small_sent) were not returned
  // yet.
  uint64_t small[RD_SMALL_SLOTS];
  uint64_t small_sent, small_returned;
  // Receiver: arrived frames; and those frames, arrived and consumed, that were too large for a small slot.
  uint64_t arrived, large_arrived, large_consumed;
  // Receiver: consumed since the last ACK.
  uint32_t owed_small;
  uint64_t owed_bytes;
  int64_t owed_since_ms;
};

// Uses at most RD_SMALL_SLOTS small slots, even if the peer grants more.
void rd_credit_init(struct rd_credit *credit, uint32_t slots, uint32_t small_slots);
// Sender: returns true if one more DATA frame of any size may be sent. Small frames wait for this as well: sent without
// waiting, they would often be the beginning of a larger one (a tenth more CPU time).
bool rd_credit_available(const struct rd_credit *credit);
// Sender: a frame with `bytes` bytes of the stream was sent. It takes a small slot if it can, so that the others stay
// free.
void rd_credit_spend(struct rd_credit *credit, size_t bytes);
// Sender: an ACK arrived. Returns false (RD_CODE_DATA_DAMAGED) if its count goes back or includes frames that were
// never sent.
bool rd_credit_take(struct rd_credit *credit, uint64_t frames_consumed, struct rd_error *error);
// Receiver: one frame arrived. Returns false (RD_CODE_DATA_DAMAGED) if there was no slot for it.
bool rd_credit_arrive(struct rd_credit *credit, size_t bytes, struct rd_error *error);
// Receiver: one frame was consumed. After that, rd_credit_due() returns true if an ACK is due; `idle`: nothing is left
// to write.
void rd_credit_consume(struct rd_credit *credit, size_t bytes, int64_t now_ms);
bool rd_credit_due(const struct rd_credit *credit, bool idle, int64_t now_ms);
// Receiver: milliseconds until an ACK is due if nothing else happens; -1 if none is owed.
int rd_credit_timeout_ms(const struct rd_credit *credit, int64_t now_ms);
void rd_credit_acknowledge(struct rd_credit *credit);
#endif
