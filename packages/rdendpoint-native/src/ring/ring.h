// SPDX-License-Identifier: Apache-2.0
// The sender's window: a byte ring between the reader of the source and the connection.
// Writer and reader are one thread or two. Bytes stay until they are acknowledged, so that a stream can be resumed on a
// new connection. Positions are stream offsets and never decrease.
#ifndef RD_RING_RING_H
#define RD_RING_RING_H

#include "base/error.h"

#include <stdatomic.h>
#include <stddef.h>
#include <stdint.h>

struct rd_ring; // opaque; page-aligned memory

// Stream offsets of the writer and of the reader, in memory that both can see.
struct rd_ring_cursors {
  atomic_uint_fast64_t filled, released;
};

struct rd_ring *rd_ring_create(size_t capacity_bytes, struct rd_error *error);
// One end of a ring of two processes, in memory that they share and that stays the caller's: page-aligned, zeros at
// first. Its writer uses rd_ring_put() alone.
struct rd_ring *rd_ring_share(unsigned char *memory, size_t capacity_bytes, struct rd_ring_cursors *cursors);
void rd_ring_destroy(struct rd_ring *ring); // NULL-safe

// Writer: contiguous free space, at most `most` bytes; waits while there is none. 0: the ring was stopped.
size_t rd_ring_reserve(struct rd_ring *ring, size_t most, unsigned char **space);
// Writer: rd_ring_reserve() would wait.
bool rd_ring_is_full(const struct rd_ring *ring);
// Writer: adds `bytes`, which are in the reserved space, to the stream.
void rd_ring_fill(struct rd_ring *ring, size_t bytes);

// Writer: copies bytes in. False: there is no room for all of them, and none was taken.
bool rd_ring_put(struct rd_ring *ring, const unsigned char *bytes, size_t count);
// Bytes for which there is room.
size_t rd_ring_room(const struct rd_ring *ring);

// Reader: contiguous bytes from stream offset `from` on, at most `most`; 0: none yet. They stay until released.
size_t rd_ring_peek(const struct rd_ring *ring, uint64_t from, size_t most, const unsigned char **bytes);
// Reader: allows the writer to overwrite everything before `offset`.
void rd_ring_release(struct rd_ring *ring, uint64_t offset);
// Either: ends the writer's wait; rd_ring_reserve() returns 0 from now on.
void rd_ring_stop(struct rd_ring *ring);

// The ring's whole memory, to be registered with a device.
const unsigned char *rd_ring_memory(const struct rd_ring *ring, size_t *bytes);
uint64_t rd_ring_filled(const struct rd_ring *ring);   // stream offset of the writer
uint64_t rd_ring_released(const struct rd_ring *ring); // and of the reader
#endif
