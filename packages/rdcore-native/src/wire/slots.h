// SPDX-License-Identifier: Apache-2.0
// Receive memory of a transport: slots of one message each, every payload at a page's beginning with its header before
// it. One thread only.
#ifndef RD_WIRE_SLOTS_H
#define RD_WIRE_SLOTS_H

#include "base/error.h"

#include <stddef.h>

// Bytes before each message that a transport may use for what it puts before messages.
#define RD_SLOT_HEADROOM_BYTES 16u

struct rd_slots {
  unsigned char *memory;
  size_t memory_bytes;
  size_t stride_bytes;
  size_t message_bytes; // the largest message that fits
  unsigned count;
  unsigned free_count;
  unsigned *free; // a stack: the slot used last is still in the cache
};

// Room for `count` messages of a header, `payload_bytes` and a tag. Free with rd_slots_free().
bool rd_slots_create(struct rd_slots *slots, unsigned count, size_t payload_bytes, struct rd_error *error);
// The one slot that a connection has before it is authenticated.
bool rd_slots_create_early(struct rd_slots *slots, struct rd_error *error);

// False when none is free.
bool rd_slots_take(struct rd_slots *slots, unsigned *slot);
void rd_slots_give(struct rd_slots *slots, unsigned slot);

// Where the message of a slot begins.
unsigned char *rd_slots_message(const struct rd_slots *slots, unsigned slot);

void rd_slots_free(struct rd_slots *slots); // also of all zeros

#endif
