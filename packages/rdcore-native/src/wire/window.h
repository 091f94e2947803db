// SPDX-License-Identifier: Apache-2.0
// How much of a stream may be on its way, and how that fits the memory which a transport's device may use: what a
// receiver grants, and the memory behind it.
#ifndef RD_WIRE_WINDOW_H
#define RD_WIRE_WINDOW_H

#include "base/error.h"

#include <stddef.h>
#include <stdint.h>

// Beside the slots, where messages come as a stream: frames of RD_SMALL_BYTES at most, so that a line need not wait for
// a round trip. A line a millisecond fills 90 over 50 ms, until it is acknowledged.
#define RD_SMALL_SLOTS 256u

struct rd_window {
  uint32_t slots;      // DATA frames
  uint32_t slot_bytes; // the largest payload of one
};

// What is compressed or sealed goes in smaller frames: they stay in a processor's cache between one thing that is done
// with them and the next, and there are enough for many threads. A MAC only reads: with it, frames as large as those in
// clear move 0.90 of what these do, with 256 KiB 0.81.
#define RD_WINDOW_CODEC_SLOT_BYTES (256u << 10)

// What a receiver with a buffer of so many bytes, at least 64 KiB, grants; `uses_codec`: frames are to be opened or
// decompressed.
struct rd_window rd_window_of(size_t buffer_bytes, bool uses_codec);
// One that was granted for frames as they are, in smaller ones and no more memory: they are to be opened after all.
struct rd_window rd_window_for_codec(const struct rd_window *window);
size_t rd_window_bytes(const struct rd_window *window);

// The receive memory that a transport needs for it at most, also for one of no slots.
size_t rd_window_memory_bytes(const struct rd_window *window);

// Makes it small enough for `most_bytes` of memory: first fewer slots, then smaller ones. False
// (RD_CODE_CANNOT_CONNECT) when two slots of 4 KiB do not fit: the words name the limit, and what to do.
bool rd_window_fit(struct rd_window *window, size_t most_bytes, struct rd_error *error);

// Why memory of a device is short, for people: the limit of this process and where it is raised.
void rd_window_too_small(struct rd_error *error);
// "buffer of 8 MiB shrunk to 5.5 MiB: …"
void rd_window_note(size_t wanted_bytes, size_t got_bytes, char *out, size_t out_bytes);

#endif
