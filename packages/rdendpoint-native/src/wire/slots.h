// SPDX-License-Identifier: Apache-2.0
// A transport's receive memory: slots of one message each.
// Every payload is page-aligned, with its header before it. For one thread.
#ifndef RD_WIRE_SLOTS_H
#define RD_WIRE_SLOTS_H

#include "base/error.h"

#include <stddef.h>

// Bytes before each message, for a transport's own header.
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

// Allocates slots for `count` messages of a header, `payload_bytes` and a tag. Free with rd_slots_free(). Returns false
// on failure.
bool rd_slots_create(struct rd_slots *slots, unsigned count, size_t payload_bytes, struct rd_error *error);
// Allocates the one slot that a connection has before authentication. Returns false on failure.
bool rd_slots_create_early(struct rd_slots *slots, struct rd_error *error);

// Returns false if no slot is free.
bool rd_slots_take(struct rd_slots *slots, unsigned *slot);
void rd_slots_give(struct rd_slots *slots, unsigned slot);

// Returns the beginning of a slot's message.
unsigned char *rd_slots_message(const struct rd_slots *slots, unsigned slot);

void rd_slots_free(struct rd_slots *slots); // all zeros are allowed

#endif
