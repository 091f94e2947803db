// SPDX-License-Identifier: Apache-2.0
// A byte ring, such as the sender's window, between the reader of the source and the connection.
// Writer and reader are one thread, two, or two processes (shared_ring.h). Bytes stay until they are acknowledged, so
// that a stream can be resumed on a new connection. Positions are stream offsets and never decrease.
#ifndef RD_RING_RING_H
#define RD_RING_RING_H

#include "base/error.h"

#include <stdatomic.h>
#include <stddef.h>
#include <stdint.h>

struct rd_ring; // opaque; page-aligned memory

// A ring that returns memory leaves this much of its capacity free, for what is released but not returned yet.
#define RD_RING_SPARE_BYTES (2u << 20)

// Stream offsets of the writer and the reader, and the most bytes that may be filled but not released, in memory that
// both can access.
struct rd_ring_cursors {
  atomic_uint_fast64_t filled, released;
  atomic_size_t limit; // changed with the reader's lock held
};

// Creates a ring of at least `capacity_bytes`, rounded up to whole pages. NULL on failure.
struct rd_ring *rd_ring_create(size_t capacity_bytes, struct rd_error *error);
// Creates one side of a ring between two processes, in memory that they share and that remains the caller's:
// page-aligned, RD_RING_SPARE_BYTES more than the ring holds, and with a limit. Its writer may not use
// rd_ring_reserve(), which would not learn of the reader's progress.
struct rd_ring *rd_ring_share(unsigned char *memory, size_t capacity_bytes, struct rd_ring_cursors *cursors);
void rd_ring_destroy(struct rd_ring *ring); // accepts NULL

// Writer: returns contiguous free space, at most `most` bytes; waits while there is none. Returns 0 if the ring was
// stopped.
size_t rd_ring_reserve(struct rd_ring *ring, size_t most, unsigned char **space);
// Writer: returns true if rd_ring_reserve() would wait.
bool rd_ring_is_full(const struct rd_ring *ring);
// Writer: adds `bytes` bytes of the reserved space to the stream.
void rd_ring_fill(struct rd_ring *ring, size_t bytes);

// Writer: copies bytes in. Returns false, with nothing copied, if there is not enough space for all of them.
bool rd_ring_put(struct rd_ring *ring, const unsigned char *bytes, size_t count);
// Returns the number of free bytes.
size_t rd_ring_room(const struct rd_ring *ring);

// Reader: returns contiguous bytes from stream offset `from`, at most `most`; 0 if there are none yet. They stay until
// released.
size_t rd_ring_peek(const struct rd_ring *ring, uint64_t from, size_t most, const unsigned char **bytes);
// Reader: allows the writer to overwrite everything before `offset`.
void rd_ring_release(struct rd_ring *ring, uint64_t offset);
// Reader: the writer may be `bytes` ahead of it, at most the capacity. At first this is the capacity.
void rd_ring_set_limit(struct rd_ring *ring, size_t bytes);
// Reader: whether released memory of a large ring returns to the system, so that it has only the memory that it holds
// bytes in. Never for memory that is registered with a device.
void rd_ring_return_memory(struct rd_ring *ring, bool wanted);
// Either side: ends the writer's wait; rd_ring_reserve() returns 0 from now on.
void rd_ring_stop(struct rd_ring *ring);

// Returns the ring's memory and its size, for registration with a device.
const unsigned char *rd_ring_memory(const struct rd_ring *ring, size_t *bytes);
uint64_t rd_ring_filled(const struct rd_ring *ring);   // stream offset of the writer
uint64_t rd_ring_released(const struct rd_ring *ring); // and of the reader
#endif
