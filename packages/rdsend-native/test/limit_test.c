// SPDX-License-Identifier: Apache-2.0
// Tests of the rate limit with a simulated clock.
#include "source/limit.h"

#include "hop/control.h"
#include "test.h"

#include <stdlib.h>

#define MS 1000000LL
#define SECOND (1000 * MS)
#define CHUNK_BYTES ((size_t)1 << 20)

static const int64_t rates[] = {1, 3, 49, 50, 51, 1000, 12345, 1000000, 200 << 20, 3LL << 30, 40LL << 30, RD_LIMIT_MAX};
#define RATES (sizeof rates / sizeof rates[0])

static int64_t now_ns;
static uint64_t seed;

static int64_t at_random(int64_t most) {
  seed = seed * 6364136223846793005U + 1442695040888963407U;
  return (int64_t)((seed >> 11) % (uint64_t)(most + 1));
}

// Sends as much as the limit allows until `until_ns`; every wait takes up to `late_ns` longer than it should. Returns
// the number of bytes.
static double send_until(struct rd_limit *limit, size_t chunk_bytes, int64_t until_ns, int64_t late_ns) {
  double sent = 0;
  while (now_ns < until_ns) {
    size_t count = rd_limit_allow(limit, chunk_bytes, now_ns);
    rd_limit_spend(limit, count);
    sent += (double)count;
    int64_t wait_ns = rd_limit_wait_ns(limit, now_ns);
    if (!CHECK((count == 0) == (wait_ns > 0))) return sent;
    now_ns += count > 0 ? (int64_t)(count / 100) + 1 : wait_ns + at_random(late_ns); // 100 GB/s
  }
  return sent;
}

static double at_rate(int64_t rate, int64_t ns) {
  return (double)rate * (double)ns / (double)SECOND;
}

static void is_no_limit(void) {
  struct rd_limit limit;
  rd_limit_init(&limit, 0, 5);
  CHECK(rd_limit_allow(&limit, CHUNK_BYTES, 5) == CHUNK_BYTES && rd_limit_wait_ns(&limit, 5) == -1);
  rd_limit_spend(&limit, CHUNK_BYTES);
  CHECK(rd_limit_allow(&limit, SIZE_MAX, 5) == SIZE_MAX && rd_limit_wait_ns(&limit, 5) == -1);
}

// Rates from one byte per second to more than any machine reaches, for any chunk size.
static void is_true_over_seconds(void) {
  static const size_t chunks[] = {1, 64, 4096, 65537, CHUNK_BYTES};
  for (size_t i = 0; i < RATES; i++) {
    for (size_t j = 0; j < sizeof chunks / sizeof chunks[0]; j++) {
      struct rd_limit limit;
      int64_t rate = rates[i] > 10000 * (int64_t)chunks[j] ? 10000 * (int64_t)chunks[j] : rates[i];
      now_ns = at_random(SECOND);
      rd_limit_init(&limit, rate, now_ns);
      int64_t from_ns = now_ns, seconds = rate < 50 ? 100 : 5;
      double sent = send_until(&limit, chunks[j], now_ns + seconds * SECOND, 2 * MS);
      double due = at_rate(rate, now_ns - from_ns);
      if (!CHECK(sent <= due && sent >= due * 0.98 - 2))
        fprintf(stderr, "  %lld: %g, %g\n", (long long)rate, sent, due);
    }
  }
}

static void holds_back_at_once(void) {
  for (size_t i = 0; i < RATES; i++) {
    struct rd_limit limit;
    rd_limit_init(&limit, rates[i], 0);
    CHECK(rd_limit_allow(&limit, 1, 0) == 0 && rd_limit_wait_ns(&limit, 0) > 0);
    CHECK(rd_limit_wait_ns(&limit, 0) <= SECOND / rates[i] + 1);
    CHECK(rd_limit_wait_ns(&limit, 2 * SECOND) == 0 && rd_limit_allow(&limit, 1, 2 * SECOND) == 1);
  }
}

// A source that was idle for long may not make up for that time.
static void saves_little_while_idle(void) {
  for (size_t i = 0; i < RATES; i++) {
    struct rd_limit limit;
    now_ns = 0;
    rd_limit_init(&limit, rates[i], now_ns);
    CHECK(rd_limit_allow(&limit, 1, now_ns += SECOND) == 1); // it was available: no delay
    rd_limit_spend(&limit, 1);
    rd_limit_idle(&limit);
    double most = at_rate(rates[i], 20 * MS);
    size_t burst = rd_limit_allow(&limit, SIZE_MAX, now_ns += 3600 * SECOND);
    CHECK((double)burst <= (most > 1 ? most : 1) && (double)burst > most - 1);
    rd_limit_spend(&limit, burst);
    CHECK(rd_limit_allow(&limit, SIZE_MAX, now_ns) == 0);
  }
}

// A machine that is late to send held-back data has not lost the time, unless it stood still for long.
static void makes_up_for_lateness(void) {
  struct rd_limit limit;
  now_ns = 0;
  rd_limit_init(&limit, 1000000, now_ns);
  double sent = send_until(&limit, CHUNK_BYTES, 100 * SECOND, 200 * MS);
  CHECK(sent > at_rate(1000000, now_ns) * 0.996 && sent <= at_rate(1000000, now_ns));
  while (rd_limit_allow(&limit, CHUNK_BYTES, now_ns) > 0) rd_limit_spend(&limit, 1);
  size_t after_a_stop = rd_limit_allow(&limit, CHUNK_BYTES, now_ns + 60 * SECOND);
  CHECK(after_a_stop <= 250000 && after_a_stop > 240000);
}

// Nor has a machine that takes long to send allowed data, or whose network is busy: there was more to send all the
// time.
static void makes_up_for_slow_work(void) {
  struct rd_limit limit;
  now_ns = 0;
  rd_limit_init(&limit, 1000000, now_ns);
  double sent = 0;
  while (now_ns < 100 * SECOND) {
    size_t count = rd_limit_allow(&limit, 4096, now_ns);
    rd_limit_spend(&limit, count);
    sent += (double)count;
    now_ns += count > 0 ? 100000 : rd_limit_wait_ns(&limit, now_ns) + 50 * MS;
    if (at_random(100) == 0) now_ns += 70 * MS;
    CHECK(sent <= at_rate(1000000, now_ns));
  }
  CHECK(sent > at_rate(1000000, now_ns) * 0.98);
}

// Small writes pass immediately while they stay below the rate.
static void lets_little_pass(void) {
  struct rd_limit limit;
  now_ns = 0;
  rd_limit_init(&limit, 10000, now_ns);
  for (int i = 0; i < 1000; i++) {
    now_ns += 10 * MS;
    CHECK(rd_limit_allow(&limit, 64, now_ns) == 64 && rd_limit_wait_ns(&limit, now_ns) == -1);
    rd_limit_spend(&limit, 64);
    rd_limit_idle(&limit);
  }
}

// Low rates do not wake the loop for every byte.
static void wakes_seldom(void) {
  for (size_t i = 0; i < RATES; i++) {
    struct rd_limit limit;
    rd_limit_init(&limit, rates[i], 0);
    CHECK(rd_limit_allow(&limit, SIZE_MAX, 0) == 0 && rd_limit_wait_ns(&limit, 0) >= 19 * MS);
  }
}

int main(void) {
  is_no_limit();
  is_true_over_seconds();
  holds_back_at_once();
  saves_little_while_idle();
  makes_up_for_lateness();
  makes_up_for_slow_work();
  lets_little_pass();
  wakes_seldom();
  return test_end("limit");
}
