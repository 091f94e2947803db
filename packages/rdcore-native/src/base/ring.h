// SPDX-License-Identifier: Apache-2.0
// The sender's window: a byte ring between the reader of the source and the connection.
// Writer and reader are one thread or two. Bytes stay until they are acknowledged, so that a stream can be resumed on a
// new connection. Positions are stream offsets and never decrease.
#ifndef RD_BASE_RING_H
#define RD_BASE_RING_H

#include "base/error.h"

#include <stddef.h>
#include <stdint.h>

struct rd_ring; // opaque; page-aligned memory

struct rd_ring *rd_ring_create(size_t capacity_bytes, struct rd_error *error);
void rd_ring_destroy(struct rd_ring *ring);

// Writer: contiguous free space, at most `most` bytes; waits while there is none. 0: the ring was stopped.
size_t rd_ring_reserve(struct rd_ring *ring, size_t most, unsigned char **space);
// Writer: rd_ring_reserve() would wait.
bool rd_ring_is_full(const struct rd_ring *ring);
// Writer: adds `bytes`, which are in the reserved space, to the stream.
void rd_ring_fill(struct rd_ring *ring, size_t bytes);

// Reader: contiguous bytes from stream offset `from` on, at most `most`; 0: none yet. They stay until released.
size_t rd_ring_peek(const struct rd_ring *ring, uint64_t from, size_t most, const unsigned char **bytes);
// Reader: allows the writer to overwrite everything before `offset`.
void rd_ring_release(struct rd_ring *ring, uint64_t offset);
// Either: ends the writer's wait; rd_ring_reserve() returns 0 from now on.
void rd_ring_stop(struct rd_ring *ring);

// The ring's whole memory, to be registered with a device.
const unsigned char *rd_ring_memory(const struct rd_ring *ring, size_t *bytes);
uint64_t rd_ring_filled(const struct rd_ring *ring); // stream offset of the writer
#endif
