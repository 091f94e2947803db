// SPDX-License-Identifier: Apache-2.0
#include "codec/demand.h"

#include "test.h"

#define MS INT64_C(1000000)

// Frames of a millisecond, of which the caller works `busy_us`. Returns the number of threads after `ms` milliseconds.
static unsigned after(struct rd_demand *demand, int64_t ms, int64_t busy_us, bool is_waiting) {
  static int64_t now_ns = MS, cpu_ns;
  for (int64_t i = 0; i < ms; i++) {
    now_ns += MS;
    cpu_ns += busy_us * 1000;
    if (rd_demand_frame(demand, now_ns, is_waiting)) rd_demand_decide(demand, now_ns, cpu_ns);
  }
  return demand->threads;
}

static void a_caller_that_waits_needs_no_thread(void) {
  struct rd_demand demand = {0};
  CHECK(after(&demand, 1000, 850, false) == 0);
  CHECK(after(&demand, 1, 1000, false) == 0);
}

static void a_busy_caller_gets_a_thread(void) {
  struct rd_demand demand = {0};
  CHECK(after(&demand, 90, 1000, false) == 0);
  CHECK(after(&demand, 20, 1000, false) == 1);
}

// The caller's own time no longer matters.
static void threads_are_added_one_at_a_time(void) {
  struct rd_demand demand = {0};
  CHECK(after(&demand, 110, 1000, false) == 1);
  CHECK(after(&demand, 1000, 1000, false) == 1);
  CHECK(after(&demand, 110, 100, true) >= 1);
  unsigned threads = demand.threads;
  CHECK(after(&demand, 100, 100, true) == threads + 1);
  CHECK(after(&demand, 1000, 100, false) == threads + 1);
}

// A pause is not work: the first frame after it begins a new period.
static void a_pause_is_not_work(void) {
  struct rd_demand demand = {0};
  CHECK(rd_demand_frame(&demand, MS, false));
  rd_demand_decide(&demand, MS, 0);
  CHECK(rd_demand_frame(&demand, 10000 * MS, false));
  rd_demand_decide(&demand, 10000 * MS, 99 * MS);
  CHECK(demand.threads == 0 && !rd_demand_frame(&demand, 10050 * MS, false));
  CHECK(rd_demand_frame(&demand, 10100 * MS, false));
  rd_demand_decide(&demand, 10100 * MS, 199 * MS);
  CHECK(demand.threads == 1);
}

int main(void) {
  a_caller_that_waits_needs_no_thread();
  a_busy_caller_gets_a_thread();
  threads_are_added_one_at_a_time();
  a_pause_is_not_work();
  return test_end("demand");
}
