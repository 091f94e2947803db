// SPDX-License-Identifier: Apache-2.0
#include "source/limit.h"

#define NS_A_SECOND 1e9
#define IDLE_S 0.02
#define LATE_S 0.25

static void fill(struct rd_limit *limit, int64_t now_ns);
static double bucket_bytes(const struct rd_limit *limit, double seconds);

void rd_limit_init(struct rd_limit *limit, int64_t bytes_per_s, int64_t now_ns) {
  *limit = (struct rd_limit){.bytes_per_s = bytes_per_s, .seen_at_ns = now_ns, .idle = true};
}

size_t rd_limit_allow(struct rd_limit *limit, size_t wanted, int64_t now_ns) {
  if (limit->bytes_per_s == 0) return wanted;
  fill(limit, now_ns);
  limit->idle = false;
  double most = bucket_bytes(limit, IDLE_S);
  limit->piece_bytes = (double)wanted < most ? wanted : (size_t)most;
  limit->holds = limit->saved_bytes < (double)limit->piece_bytes;
  if (limit->holds) return 0;
  return (double)wanted < limit->saved_bytes ? wanted : (size_t)limit->saved_bytes;
}

void rd_limit_spend(struct rd_limit *limit, size_t bytes) {
  if (limit->bytes_per_s > 0) limit->saved_bytes -= (double)bytes;
}

void rd_limit_idle(struct rd_limit *limit) {
  limit->idle = true;
  limit->holds = false;
}

int64_t rd_limit_wait_ns(const struct rd_limit *limit, int64_t now_ns) {
  if (!limit->holds) return -1;
  double lacking_bytes = (double)limit->piece_bytes - limit->saved_bytes;
  int64_t wait_ns = (int64_t)(lacking_bytes * NS_A_SECOND / (double)limit->bytes_per_s) + 1;
  int64_t waited_ns = now_ns - limit->seen_at_ns;
  return wait_ns > waited_ns ? wait_ns - waited_ns : 0;
}

static void fill(struct rd_limit *limit, int64_t now_ns) {
  double most = bucket_bytes(limit, limit->idle ? IDLE_S : LATE_S);
  limit->saved_bytes += (double)(now_ns - limit->seen_at_ns) * (double)limit->bytes_per_s / NS_A_SECOND;
  if (limit->saved_bytes > most) limit->saved_bytes = most;
  limit->seen_at_ns = now_ns;
}

// At least one byte; otherwise a low rate would never send.
static double bucket_bytes(const struct rd_limit *limit, double seconds) {
  double bytes = (double)limit->bytes_per_s * seconds;
  return bytes > 1 ? bytes : 1;
}
