// SPDX-License-Identifier: Apache-2.0
#include "serve/averages.h"

static const struct rd_average_step *step_back(const struct rd_averages *averages, size_t back);
static size_t known(const struct rd_averages *averages, size_t steps);

void rd_averages_add(struct rd_averages *averages, const struct rd_average_step *step) {
  averages->steps[averages->count++ % RD_AVERAGES_STEPS] = *step;
}

struct rd_average rd_averages_over(const struct rd_averages *averages, size_t steps) {
  struct rd_average average = {0};
  size_t count = known(averages, steps);
  if (count == 0) return average;
  for (size_t back = 0; back < count; back++) {
    const struct rd_average_step *step = step_back(averages, back);
    average.received += (double)step->received;
    average.sent += (double)step->sent;
    average.sessions += step->sessions;
  }
  double seconds = (double)count * RD_AVERAGES_STEP_MS / 1000;
  return (struct rd_average){.received = average.received / seconds,
                             .sent = average.sent / seconds,
                             .sessions = average.sessions / (double)count};
}

bool rd_averages_have_traffic(const struct rd_averages *averages) {
  struct rd_average average = rd_averages_over(averages, RD_AVERAGES_STEPS);
  return average.received > 0 || average.sent > 0 || average.sessions > 0;
}

static const struct rd_average_step *step_back(const struct rd_averages *averages, size_t back) {
  return &averages->steps[(averages->count - 1 - back) % RD_AVERAGES_STEPS];
}

static size_t known(const struct rd_averages *averages, size_t steps) {
  return steps < averages->count ? steps : averages->count;
}
