// SPDX-License-Identifier: Apache-2.0
// The receive window: what a receiver grants, and the memory that it takes.
#ifndef RD_WIRE_WINDOW_H
#define RD_WIRE_WINDOW_H

#include "base/error.h"

#include <stddef.h>
#include <stdint.h>

// Further frames of RD_SMALL_BYTES at most, over a transport that is a stream: a line need not wait for a round trip.
// At a line a millisecond and a round trip of 50 ms, 90 are in use before the first is acknowledged.
#define RD_SMALL_SLOTS 256u

struct rd_window {
  uint32_t slots;      // DATA frames
  uint32_t slot_bytes; // the largest payload of one
};

// Compressed or sealed frames are smaller: they stay in the processor's cache between the steps, and there are enough
// of them for many threads. A MAC only reads: with it, full-size frames reach 0.90 of the plain throughput, frames of
// 256 KiB 0.81. Frames of a chain are as small: a host passes on whole frames, and the first sender keeps one for each
// host and more.
#define RD_WINDOW_CODEC_SLOT_BYTES (256u << 10)

// The window of a receiver with a buffer of so many bytes, at least 64 KiB. `small`: frames are to be opened or
// decompressed, or are those of a chain.
struct rd_window rd_window_of(size_t buffer_bytes, bool small);
// A window for plain frames, converted for frames that are to be opened or decompressed: smaller slots in no more
// memory.
struct rd_window rd_window_for_codec(const struct rd_window *window);
// The ring that keeps what `behind` hosts of a chain may lack, beside a window of `buffer_bytes`: as many bytes, and in
// a long chain two frames for each host and 8 more; at most RD_WINDOW_RING_MAX_BYTES.
#define RD_BEHIND_MAX 65535u
#define RD_WINDOW_RING_MAX_BYTES ((size_t)1 << 30)
size_t rd_window_ring_bytes(size_t buffer_bytes, unsigned behind);
size_t rd_window_bytes(const struct rd_window *window);

// The most receive memory that a transport needs for it, also for a window of no slots.
size_t rd_window_memory_bytes(const struct rd_window *window);

// Shrinks it to `most_bytes` of memory: first fewer slots, then smaller ones. False (RD_CODE_CANNOT_CONNECT) when two
// slots of 4 KiB do not fit; the message names the limit and the next step.
bool rd_window_fit(struct rd_window *window, size_t most_bytes, struct rd_error *error);

// The error of a memlock limit that is too small: its value, and where to raise it.
void rd_window_too_small(struct rd_error *error);
// "buffer of 8 MiB shrunk to 5.5 MiB: …"
void rd_window_note(size_t wanted_bytes, size_t got_bytes, char *out, size_t out_bytes);

#endif
