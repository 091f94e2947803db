// SPDX-License-Identifier: Apache-2.0
#include "hop/climb.h"

// A stream that has ended by then does not need further lanes.
#define BEGINS_AT_BYTES (1u << 20)
// In this time new lanes reach their rate, and a rate can be told from its usual changes.
#define INTERVAL_MS 1000
#define INTERVAL_ROUND_TRIPS 10
#define GAIN 1.15

static void begin_phase(struct rd_climb *climb, int phase, const struct rd_progress *progress);
static void judge(struct rd_climb *climb, unsigned most, const struct rd_progress *progress);

void rd_climb_restart(struct rd_climb *climb) {
  climb->phase = RD_CLIMB_NOT_BEGUN;
}

unsigned rd_climb_lanes(struct rd_climb *climb, unsigned most, bool is_auto, const struct rd_progress *progress) {
  int64_t interval_ms = INTERVAL_ROUND_TRIPS * (int64_t)progress->rtt_us / 1000;
  if (interval_ms < INTERVAL_MS) interval_ms = INTERVAL_MS;
  bool is_over = progress->now_ms - climb->since.now_ms >= interval_ms;
  if (most <= 1 || progress->begun_bytes < BEGINS_AT_BYTES) return 1;
  if (!is_auto) return most;
  switch (climb->phase) {
  case RD_CLIMB_NOT_BEGUN:
    if (climb->lanes == 0) climb->lanes = RD_CLIMB_FIRST;
    begin_phase(climb, RD_CLIMB_SETTLES, progress);
    break;
  case RD_CLIMB_SETTLES:
    if (is_over) begin_phase(climb, RD_CLIMB_MEASURES, progress);
    break;
  case RD_CLIMB_MEASURES:
    if (is_over) judge(climb, most, progress);
    break;
  case RD_CLIMB_DONE:
    break;
  }
  if (climb->lanes > most) climb->lanes = most;
  return climb->lanes;
}

static void begin_phase(struct rd_climb *climb, int phase, const struct rd_progress *progress) {
  climb->phase = phase;
  climb->since = *progress;
}

// While the input is slower than the network, nothing can be said about the lanes.
static void judge(struct rd_climb *climb, unsigned most, const struct rd_progress *progress) {
  const struct rd_progress *since = &climb->since;
  int64_t passed_ms = progress->now_ms - since->now_ms;
  double bytes_per_ms = (double)(progress->moved_bytes - since->moved_bytes) / (double)passed_ms;
  if ((progress->idle_ms - since->idle_ms) * 2 > passed_ms) {
    begin_phase(climb, RD_CLIMB_MEASURES, progress);
  } else if (climb->lanes >= most || bytes_per_ms < climb->bytes_per_ms * GAIN) {
    climb->phase = RD_CLIMB_DONE;
  } else {
    climb->bytes_per_ms = bytes_per_ms;
    climb->lanes *= 2;
    begin_phase(climb, RD_CLIMB_SETTLES, progress);
  }
}
