// SPDX-License-Identifier: Apache-2.0
#include "base/usage.h"

static int64_t in_ms(struct timeval time);

struct rd_usage rd_usage_of(const struct rusage *measured) {
  return (struct rd_usage){
      .user_ms = in_ms(measured->ru_utime), .system_ms = in_ms(measured->ru_stime), .max_rss_kib = measured->ru_maxrss};
}

struct rd_usage rd_usage_so_far(void) {
  struct rusage measured = {0};
  getrusage(RUSAGE_SELF, &measured);
  return rd_usage_of(&measured);
}

static int64_t in_ms(struct timeval time) {
  return (int64_t)time.tv_sec * 1000 + time.tv_usec / 1000;
}
