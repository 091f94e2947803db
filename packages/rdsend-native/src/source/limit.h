// SPDX-License-Identifier: Apache-2.0
// The rate limit of a sender: a token bucket, empty at first.
// While there is nothing to send the bucket holds a fiftieth of a second of the rate at most; while there is, it holds
// up to a quarter of a second, to catch up after a delay of the machine or the wire. No interval carries more than its
// share plus that. Pure; times are in nanoseconds.
#ifndef RD_SOURCE_LIMIT_H
#define RD_SOURCE_LIMIT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct rd_limit {
  int64_t bytes_per_s; // 0: there is no limit
  double saved_bytes;
  int64_t seen_at_ns;
  size_t piece_bytes; // the last request, at most what fits in the bucket
  bool holds;         // the bucket does not have so many yet
  bool idle;          // nothing to send since then
};

// `bytes_per_s`: 0 to RD_LIMIT_MAX_BYTES_PER_S.
void rd_limit_init(struct rd_limit *limit, int64_t bytes_per_s, int64_t now_ns);
// How many of `wanted` bytes may be sent now. 0: none, until rd_limit_wait_ns() has passed. If it is less than
// `wanted`, it is all that the bucket holds, so that low rates make no tiny pieces.
size_t rd_limit_allow(struct rd_limit *limit, size_t wanted, int64_t now_ns);
// Takes sent bytes from the bucket; bytes that are sent again count again.
void rd_limit_spend(struct rd_limit *limit, size_t bytes);
// There is nothing to send until the next rd_limit_allow().
void rd_limit_idle(struct rd_limit *limit);
// For how long nothing may be sent; -1: the limit holds nothing back.
int64_t rd_limit_wait_ns(const struct rd_limit *limit, int64_t now_ns);

#endif
