// SPDX-License-Identifier: Apache-2.0
// The sender's window: a byte ring between whoever reads and whoever sends, one thread or two. Bytes stay until they
// are acknowledged, so that a broken connection can be taken up again. Positions are stream offsets and never go back.
#ifndef RD_BASE_RING_H
#define RD_BASE_RING_H

#include "base/error.h"

#include <stddef.h>
#include <stdint.h>

struct rd_ring; // opaque; page-aligned memory

struct rd_ring *rd_ring_create(size_t capacity_bytes, struct rd_error *error);
void rd_ring_destroy(struct rd_ring *ring);

// Writer: contiguous free space, at most `most` bytes; waits while there is none. 0 when the ring was stopped.
size_t rd_ring_reserve(struct rd_ring *ring, size_t most, unsigned char **space);
// Writer: rd_ring_reserve() would wait.
bool rd_ring_is_full(const struct rd_ring *ring);
// Writer: `bytes` of the reserved space were filled.
void rd_ring_fill(struct rd_ring *ring, size_t bytes);

// Reader: contiguous bytes from stream offset `from` on, at most `most`; 0 when there are none now. They stay until
// released.
size_t rd_ring_peek(const struct rd_ring *ring, uint64_t from, size_t most, const unsigned char **bytes);
// Reader: everything before `offset` may be overwritten.
void rd_ring_release(struct rd_ring *ring, uint64_t offset);
// Either: the writer's waiting ends and no space is given any more.
void rd_ring_stop(struct rd_ring *ring);

// All of its memory.
const unsigned char *rd_ring_memory(const struct rd_ring *ring, size_t *bytes);
uint64_t rd_ring_filled(const struct rd_ring *ring); // stream offset of the writer
#endif
