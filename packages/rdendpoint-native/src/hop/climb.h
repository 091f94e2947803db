// SPDX-License-Identifier: Apache-2.0
// How many lanes a connection should have by now: more, while more lanes move more bytes.
#ifndef RD_CLIMB_H
#define RD_CLIMB_H

#include <stdbool.h>
#include <stdint.h>

#define RD_CLIMB_FIRST 4u // lanes, of a path that is long enough for more than one

// The progress of a stream at one end.
struct rd_progress {
  uint64_t begun_bytes; // sent, though perhaps not acknowledged, or received
  uint64_t moved_bytes;
  int64_t idle_ms; // in all: without bytes to send
  uint32_t rtt_us;
  int64_t now_ms;
};

// All zeros: nothing is known yet.
struct rd_climb {
  unsigned lanes;
  enum { RD_CLIMB_NOT_BEGUN, RD_CLIMB_SETTLES, RD_CLIMB_MEASURES, RD_CLIMB_DONE } phase;
  struct rd_progress since; // when the phase began
  double bytes_per_ms;      // with half of the lanes
};

// A new connection begins: it needs as many lanes as the previous one.
void rd_climb_restart(struct rd_climb *climb);
// Returns how many lanes there should be, from 1 to `most`. Call it often. `is_auto`: not more than help.
unsigned rd_climb_lanes(struct rd_climb *climb, unsigned most, bool is_auto, const struct rd_progress *progress);

#endif
