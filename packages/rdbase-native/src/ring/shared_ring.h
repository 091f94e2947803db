// SPDX-License-Identifier: Apache-2.0
// A ring between two programs of one host, in memory that both map.
// Each wakes the other through one end of a socket pair, the bell. Each trusts the other with the bytes of the ring,
// but with no memory besides it: whatever the other program writes there, offsets stay within the ring.
#ifndef RD_RING_SHARED_RING_H
#define RD_RING_SHARED_RING_H

#include "ring/ring.h"

#include <stdbool.h>

#define RD_SHARED_RING_NOTES_BYTES 1024u

struct rd_shared_ring; // opaque: one side of it

enum rd_ring_side { RD_RING_WRITER, RD_RING_READER };

// One side is opened from these descriptors; -1: there is none.
struct rd_ring_fds {
  int memory, bell;
};
#define RD_NO_RING_FDS ((struct rd_ring_fds){.memory = -1, .bell = -1})

// Creates the descriptors of both sides, close-on-exec. The memory cannot shrink, so that no access to it fails.
// Returns false (RD_CODE_INTERNAL) on failure.
bool rd_ring_fds_create(struct rd_ring_fds sides[2], struct rd_error *error);
void rd_ring_fds_close(struct rd_ring_fds *fds);

// Takes ownership of the descriptors, even on failure. NULL on failure.
struct rd_shared_ring *rd_shared_ring_open(enum rd_ring_side side, struct rd_ring_fds fds, struct rd_error *error);
// Frees this side; the other side keeps its mapping. Accepts NULL.
void rd_shared_ring_destroy(struct rd_shared_ring *shared);

// Either side: makes the ring, once. Returns false on failure.
bool rd_shared_ring_make(struct rd_shared_ring *shared, size_t capacity_bytes, struct rd_error *error);
// Returns NULL if it is not made yet or, with *error set, if it cannot be used.
struct rd_ring *rd_shared_ring_get(struct rd_shared_ring *shared, struct rd_error *error);
// Returns where the byte at this stream offset is. All bytes of the ring from there on are contiguous.
unsigned char *rd_shared_ring_at(const struct rd_shared_ring *shared, uint64_t offset);
// Returns memory for more that the two sides tell each other: RD_SHARED_RING_NOTES_BYTES, initially zero.
void *rd_shared_ring_notes(const struct rd_shared_ring *shared);

// Call after progress of this side: wakes the other side if it waits.
void rd_shared_ring_tell(struct rd_shared_ring *shared);
// Asks to be woken by progress of the other side from now on: check that progress once more before waiting.
void rd_shared_ring_expect_news(struct rd_shared_ring *shared);
// Readable when the other side made progress; -1: the other side is gone.
int rd_shared_ring_poll_fd(const struct rd_shared_ring *shared);
void rd_shared_ring_woken(struct rd_shared_ring *shared); // it was readable

#endif
