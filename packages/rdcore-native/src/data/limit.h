// SPDX-License-Identifier: Apache-2.0
// The limit of a sender's rate: a token bucket, empty at first. While nothing is to be sent it fills up for a fiftieth
// of a second and no more; while something is, what a late machine or a slow wire left is made up for, for up to a
// quarter of a second. So no stretch of time carries more than its share and that. Pure; times in nanoseconds.
#ifndef RD_DATA_LIMIT_H
#define RD_DATA_LIMIT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct rd_limit {
  int64_t bytes_per_s; // 0: there is no limit
  double saved_bytes;
  int64_t seen_at_ns;
  size_t piece_bytes; // what was asked for last, or as much of it as fits the bucket
  bool holds;         // and it was not there
  bool idle;          // since then nothing was to be sent
};

// `bytes_per_s`: 0 to RD_LIMIT_MOST_BYTES_PER_S.
void rd_limit_init(struct rd_limit *limit, int64_t bytes_per_s, int64_t now_ns);
// Of `wanted` bytes, those that may go now. 0: none, until rd_limit_wait_ns() has passed. Less than `wanted` is never
// less than the bucket holds, so that low rates make no tiny pieces.
size_t rd_limit_allow(struct rd_limit *limit, size_t wanted, int64_t now_ns);
// They went; whether for the first time or again is all the same.
void rd_limit_spend(struct rd_limit *limit, size_t bytes);
// Nothing is to be sent until rd_limit_allow() is asked again.
void rd_limit_idle(struct rd_limit *limit);
// How long nothing may go; -1: nothing is held back.
int64_t rd_limit_wait_ns(const struct rd_limit *limit, int64_t now_ns);

#endif
