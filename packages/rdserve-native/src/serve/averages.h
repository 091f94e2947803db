// SPDX-License-Identifier: Apache-2.0
// Averages of a server's traffic over the last 10 s, 1 and 5 minutes.
#ifndef RD_SERVE_AVERAGES_H
#define RD_SERVE_AVERAGES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define RD_AVERAGES_STEP_MS 10000
#define RD_AVERAGES_STEPS 30 // 5 minutes

struct rd_average {
  double received, sent; // bytes per second
  double sessions;
};

// The traffic of one step.
struct rd_average_step {
  uint64_t received, sent;
  unsigned sessions; // at the end of the step
};

// Zeroed at first.
struct rd_averages {
  struct rd_average_step steps[RD_AVERAGES_STEPS];
  size_t count; // so far
};

// Adds the step that has just ended; replaces the oldest one if there are RD_AVERAGES_STEPS.
void rd_averages_add(struct rd_averages *averages, const struct rd_average_step *step);
// Averages over the last `steps`, or over all steps if there were fewer.
struct rd_average rd_averages_over(const struct rd_averages *averages, size_t steps);
// Returns true if there was traffic or an open session in the last 5 minutes.
bool rd_averages_have_traffic(const struct rd_averages *averages);

#endif
