// SPDX-License-Identifier: Apache-2.0
#include "forward/allowance.h"

#define FAST_MS 200 // half a window in less time delays the sender, if the network's round trip takes up to twice this
#define SLOW_MS 2000

static void resize(struct rd_allowance *allowance, int64_t took_ms, uint32_t *budget);

void rd_allowance_begin(struct rd_allowance *allowance, int64_t now_ms) {
  *allowance = (struct rd_allowance){.window = RD_ALLOWANCE_MIN, .granted = RD_ALLOWANCE_MIN, .last_ms = now_ms};
}

bool rd_allowance_arrived(struct rd_allowance *allowance, uint32_t bytes) {
  if (bytes > allowance->granted) return false;
  allowance->granted -= bytes;
  allowance->waiting += bytes;
  return true;
}

// Grants half windows: one grant per record would double the number of records.
uint32_t rd_allowance_taken(struct rd_allowance *allowance, uint32_t bytes, int64_t now_ms, uint32_t *budget) {
  allowance->waiting -= bytes;
  uint32_t held = allowance->granted + allowance->waiting;
  if (held > allowance->window / 2) return 0;
  resize(allowance, now_ms - allowance->last_ms, budget);
  if (held >= allowance->window) return 0;
  uint32_t grant = allowance->window - held;
  allowance->granted += grant;
  allowance->last_ms = now_ms;
  return grant;
}

void rd_allowance_end(struct rd_allowance *allowance, uint32_t *budget) {
  *budget += allowance->window - RD_ALLOWANCE_MIN;
  allowance->window = RD_ALLOWANCE_MIN;
}

// A reader that has left bytes waiting does not keep up.
static void resize(struct rd_allowance *allowance, int64_t took_ms, uint32_t *budget) {
  uint32_t window = allowance->window;
  if (took_ms < FAST_MS && allowance->waiting == 0 && window < RD_ALLOWANCE_MAX && *budget >= window) {
    *budget -= window;
    allowance->window = 2 * window;
  } else if (took_ms > SLOW_MS && window > RD_ALLOWANCE_MIN) {
    *budget += window / 2;
    allowance->window = window / 2;
  }
}
