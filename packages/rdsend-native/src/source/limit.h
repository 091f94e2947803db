// SPDX-License-Identifier: Apache-2.0
// The rate limit of a sender: a token bucket, empty at first.
// While there is nothing to send, the bucket holds at most a fiftieth of a second of the rate; while there is, it holds
// up to a quarter of a second, to catch up after a delay of the machine or the network. No interval carries more than
// its share plus that. Pure; times are in nanoseconds.
#ifndef RD_SOURCE_LIMIT_H
#define RD_SOURCE_LIMIT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct rd_limit {
  int64_t bytes_per_s; // 0: no limit
  double saved_bytes;
  int64_t seen_at_ns;
  size_t piece_bytes; // the last request, but at most the size of the bucket
  bool holds;         // the bucket does not contain `piece_bytes` yet
  bool idle;          // nothing to send since the last request
};

// `bytes_per_s`: 0 to RD_LIMIT_MAX.
void rd_limit_init(struct rd_limit *limit, int64_t bytes_per_s, int64_t now_ns);
// Returns how many of `wanted` bytes may be sent now. 0: none, until rd_limit_wait_ns() has passed. A result below
// `wanted` is everything that the bucket holds, so that low rates do not cause tiny pieces.
size_t rd_limit_allow(struct rd_limit *limit, size_t wanted, int64_t now_ns);
// Takes sent bytes from the bucket; bytes that are sent again count again.
void rd_limit_spend(struct rd_limit *limit, size_t bytes);
// There is nothing to send until the next rd_limit_allow().
void rd_limit_idle(struct rd_limit *limit);
// Returns for how long nothing may be sent; -1: the limit does not delay anything.
int64_t rd_limit_wait_ns(const struct rd_limit *limit, int64_t now_ns);

#endif
