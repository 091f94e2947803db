// SPDX-License-Identifier: Apache-2.0
// The receive window: how much a receiver grants, and how much memory that takes.
#ifndef RD_WIRE_WINDOW_H
#define RD_WIRE_WINDOW_H

#include "base/error.h"

#include <stddef.h>
#include <stdint.h>

// Extra frames of at most RD_SMALL_BYTES, over a stream transport, so that a line does not have to wait for a round
// trip. With one line per millisecond and a round trip of 50 ms, 90 are in use before the first is acknowledged.
#define RD_SMALL_SLOTS 256u

struct rd_window {
  uint32_t slots;      // DATA frames
  uint32_t slot_bytes; // the largest payload of such a frame
};

// Compressed or sealed frames are smaller: they stay in the CPU's cache between the steps, and there are enough of them
// for many threads. A MAC only reads: with a MAC, full-size frames reach 0.90 of the unprotected throughput, frames of
// 256 KiB 0.81. Frames in a chain are just as small: a host passes on complete frames, and the first sender keeps at
// least one for each host.
#define RD_WINDOW_CODEC_SLOT_BYTES (256u << 10)

// Frames of a connection with several lanes are smaller still, so that a slow lane delays the others less; and so many
// that their numbers stay unambiguous.
#define RD_WINDOW_LANE_SLOT_BYTES (128u << 10)
#define RD_WINDOW_LANE_SLOTS_MAX 1024u
#define RD_WINDOW_LANES_MAX_BYTES ((size_t)1 << 30)

// Returns the window for a receiver with a buffer of `buffer_bytes`, at least 64 KiB. `small`: for frames that are
// opened or decompressed, or that are part of a chain.
struct rd_window rd_window_of(size_t buffer_bytes, bool small);
// The same for a connection with several lanes; `buffer_bytes` is that of all of them.
struct rd_window rd_window_for_lanes(size_t buffer_bytes);
// Returns how many lanes with `buffer_bytes` each use at most a part of a machine's memory of `memory_bytes`: at least
// one.
unsigned rd_window_lanes_in(uint64_t memory_bytes, size_t buffer_bytes);
// Returns the buffer of a connection whose lanes have `buffer_bytes` each.
size_t rd_window_buffer_bytes(size_t buffer_bytes, unsigned lanes);
// Converts a window for unprotected frames to one for frames that are opened or decompressed: smaller slots in no more
// memory.
struct rd_window rd_window_for_codec(const struct rd_window *window);
// Returns the size of the ring that keeps the bytes that `behind` hosts of a chain may still need, in addition to a
// window of `buffer_bytes`: as many bytes, or, in a long chain, two frames for each host and 8 more; at most
// RD_WINDOW_RING_MAX_BYTES.
#define RD_BEHIND_MAX 65535u
#define RD_WINDOW_RING_MAX_BYTES ((size_t)1 << 30)
size_t rd_window_ring_bytes(size_t buffer_bytes, unsigned behind);
size_t rd_window_bytes(const struct rd_window *window);

// Returns the most receive memory that a transport needs for the window, even for a window without slots.
size_t rd_window_memory_bytes(const struct rd_window *window);

// Shrinks the window to `most_bytes` of memory: first fewer slots, then smaller ones. Returns false
// (RD_CODE_CANNOT_CONNECT) if two slots of 4 KiB do not fit; the message names the limit and the next step.
bool rd_window_fit(struct rd_window *window, size_t most_bytes, struct rd_error *error);

// Sets the error for a memlock limit that is too small: its value, and where to raise it.
void rd_window_too_small(struct rd_error *error);
// Formats "buffer of 8 MiB reduced to 5.5 MiB: …".
void rd_window_note(size_t wanted_bytes, size_t got_bytes, char *out, size_t out_bytes);

#endif
