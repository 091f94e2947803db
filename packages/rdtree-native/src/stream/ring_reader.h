// SPDX-License-Identifier: Apache-2.0
// Reads a stream from a ring that rdrecv shares: the contents of files are used where they are.
// rdrecv, which talks to the network, could change the bytes of the ring at any time: copy what is to be checked before
// it is used.
#ifndef RD_TREE_RING_READER_H
#define RD_TREE_RING_READER_H

#include "ring/shared_ring.h"

#include <stdbool.h>
#include <sys/types.h>

struct rd_ring_reader; // opaque
struct rd_ring_hold;   // bytes in use, of one reader

// The end of the pipe `fd`, in which no bytes come, is the end of the stream. Both stay the caller's. Never NULL.
struct rd_ring_reader *rd_ring_reader_create(struct rd_shared_ring *shared, int fd);
// All bytes must have been given back. NULL-safe.
void rd_ring_reader_destroy(struct rd_ring_reader *reader);

// Waits until `count` bytes have come, or all there will be. Returns how many there are then, at most `count`, and
// where they are; -1: the ring cannot be used.
ssize_t rd_ring_reader_wait(struct rd_ring_reader *reader, size_t count, const unsigned char **bytes,
                            struct rd_error *error);
// The next `count` bytes, which are here, are no longer needed.
void rd_ring_reader_skip(struct rd_ring_reader *reader, size_t count);
// The next `count` bytes, which are here, are needed until they are given back. NULL: too many are in use.
struct rd_ring_hold *rd_ring_reader_hold(struct rd_ring_reader *reader, size_t count);
// Any thread may call this.
void rd_ring_hold_give_back(struct rd_ring_hold *hold);

#endif
