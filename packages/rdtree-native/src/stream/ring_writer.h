// SPDX-License-Identifier: Apache-2.0
// Writes a stream into a ring that rdsend shares: files are read into the memory from which it sends.
#ifndef RD_TREE_RING_WRITER_H
#define RD_TREE_RING_WRITER_H

#include "ring/shared_ring.h"

#include <stdbool.h>

struct rd_ring_writer; // opaque

// `shared` stays the caller's. Never NULL.
struct rd_ring_writer *rd_ring_writer_create(struct rd_shared_ring *shared);
void rd_ring_writer_destroy(struct rd_ring_writer *writer); // NULL-safe

// Copies bytes into the ring; waits for room. Nothing may be reserved. False (RD_CODE_CLOSED): the reader is gone.
bool rd_ring_writer_put(struct rd_ring_writer *writer, const unsigned char *bytes, size_t count,
                        struct rd_error *error);

// Reserves `count` contiguous bytes after all that were put or reserved so far; waits for room if nothing else is
// reserved. NULL: there is no room now (RD_CODE_OK), or the reader is gone (RD_CODE_CLOSED).
unsigned char *rd_ring_writer_reserve(struct rd_ring_writer *writer, size_t count, struct rd_error *error);
// Returns the stream offset after all that was put or reserved so far.
uint64_t rd_ring_writer_end(const struct rd_ring_writer *writer);
// The oldest `count` reserved bytes were written: the reader may have them.
void rd_ring_writer_fill(struct rd_ring_writer *writer, size_t count);
// Drops what is reserved but not filled.
void rd_ring_writer_cancel(struct rd_ring_writer *writer);

#endif
