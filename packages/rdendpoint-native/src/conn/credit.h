// SPDX-License-Identifier: Apache-2.0
// Credits of a hop (docs/protocol.md, section 1.3): pure bookkeeping of one end.
#ifndef RD_CONN_CREDIT_H
#define RD_CONN_CREDIT_H

#include "base/error.h"
#include "wire/window.h"

#include <stddef.h>
#include <stdint.h>

struct rd_credit {
  uint32_t slots, small_slots;
  uint64_t frames;   // sender: DATA frames sent; receiver: DATA frames consumed
  uint64_t returned; // sender: frames in the last ACK; receiver: frames in our last ACK
  // Sender: the numbers of the frames that spent a small slot; of [small_returned, small_sent) none was returned.
  uint64_t small[RD_SMALL_SLOTS];
  uint64_t small_sent, small_returned;
  // Receiver: arrived frames; of the arrived and the consumed ones, those too large for a small slot.
  uint64_t arrived, large_arrived, large_consumed;
  // Receiver: since the last ACK.
  uint32_t owed_small;
  uint64_t owed_bytes;
  int64_t owed_since_ms;
};

void rd_credit_init(struct rd_credit *credit, uint32_t slots, uint32_t small_slots);
// Sender: whether one more DATA frame of any size may be sent. Small frames wait for it too: sent alone, they would
// often be the beginning of a larger one (a tenth more processor time).
bool rd_credit_available(const struct rd_credit *credit);
// A frame of so many bytes of the stream was sent: it takes a small slot if it can, so that the others stay free.
void rd_credit_spend(struct rd_credit *credit, size_t bytes);
// Sender: an ACK arrived. False (RD_CODE_DATA_DAMAGED): it goes back, or counts frames that were never sent.
bool rd_credit_take(struct rd_credit *credit, uint64_t frames_consumed, struct rd_error *error);
// Receiver: one frame arrived. False (RD_CODE_DATA_DAMAGED): it had no slot.
bool rd_credit_arrive(struct rd_credit *credit, size_t bytes, struct rd_error *error);
// Receiver: one frame was consumed; then, whether an ACK is due. `idle`: nothing is left to write.
void rd_credit_consume(struct rd_credit *credit, size_t bytes, int64_t now_ms);
bool rd_credit_due(const struct rd_credit *credit, bool idle, int64_t now_ms);
// Receiver: milliseconds until an ACK is due if nothing else happens; -1: none is owed.
int rd_credit_timeout_ms(const struct rd_credit *credit, int64_t now_ms);
void rd_credit_acknowledge(struct rd_credit *credit);
#endif
