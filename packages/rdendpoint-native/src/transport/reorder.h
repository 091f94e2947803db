// SPDX-License-Identifier: Apache-2.0
// Puts the messages of several lanes back in order, by their numbers.
// See docs/protocol/wire.md, section 1.
#ifndef RD_TRANSPORT_REORDER_H
#define RD_TRANSPORT_REORDER_H

#include "transport/transport.h"

// Numbers are modulo this; a sender never has half as many messages under way.
#define RD_MESSAGE_NUMBERS 2048u

struct rd_reorder {
  struct rd_message held[RD_MESSAGE_NUMBERS]; // `data` is NULL: none
  unsigned next;                              // the number of the message to pass on
};

// Begins with the message of number `first`.
void rd_reorder_init(struct rd_reorder *reorder, unsigned first);
// Takes the message of this number, below RD_MESSAGE_NUMBERS. Returns false if that one is already held.
bool rd_reorder_put(struct rd_reorder *reorder, unsigned number, const struct rd_message *message);
// Returns true with the next message in order, if it has arrived.
bool rd_reorder_take(struct rd_reorder *reorder, struct rd_message *message);

// Counts the messages that no longer need their memory, if they are released in any order.
struct rd_release_count {
  uint64_t prefix; // all before this one were released
  bool released[RD_MESSAGE_NUMBERS];
};

// `index`: of the message, from 0; below prefix + RD_MESSAGE_NUMBERS.
void rd_release_count_add(struct rd_release_count *count, uint64_t index);

#endif
