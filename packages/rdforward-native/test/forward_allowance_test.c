// SPDX-License-Identifier: Apache-2.0
// Tests of a connection's window: refuses more, grows for a fast reader, shrinks for a slow one.
#include "forward/allowance.h"

#include "test.h"

static struct rd_allowance allowance;
static uint32_t budget;

static void begin(uint32_t its_budget) {
  rd_allowance_begin(&allowance, 0);
  budget = its_budget;
}

// Simulates a sender that uses all that it may, and a reader that takes it after `ms`. Returns the grant.
static uint32_t fill_and_take(int64_t *now_ms, int64_t ms) {
  uint32_t bytes = allowance.granted;
  CHECK(rd_allowance_arrived(&allowance, bytes));
  return rd_allowance_taken(&allowance, bytes, *now_ms += ms, &budget);
}

static void test_no_more_than_granted(void) {
  begin(RD_ALLOWANCE_BUDGET);
  CHECK(!rd_allowance_arrived(&allowance, RD_ALLOWANCE_MIN + 1));
  CHECK(rd_allowance_arrived(&allowance, RD_ALLOWANCE_MIN) && !rd_allowance_arrived(&allowance, 1));
  CHECK(rd_allowance_taken(&allowance, RD_ALLOWANCE_MIN / 2 - 1, 5000, &budget) == 0); // less than half
  CHECK(rd_allowance_taken(&allowance, 1, 5000, &budget) == RD_ALLOWANCE_MIN / 2);
  CHECK(allowance.granted + allowance.waiting == RD_ALLOWANCE_MIN);
}

static void test_grows_and_shrinks(void) {
  int64_t now_ms = 0;
  begin(RD_ALLOWANCE_BUDGET);
  for (int i = 0; i < 20; i++) CHECK(fill_and_take(&now_ms, 10) == allowance.window);
  CHECK(allowance.window == RD_ALLOWANCE_MAX && budget == RD_ALLOWANCE_BUDGET - RD_ALLOWANCE_MAX + RD_ALLOWANCE_MIN);
  for (int i = 0; i < 20; i++) CHECK(fill_and_take(&now_ms, 3000) == allowance.window);
  CHECK(allowance.window == RD_ALLOWANCE_MIN && budget == RD_ALLOWANCE_BUDGET);
}

static void test_budget(void) {
  int64_t now_ms = 0;
  begin(3 * RD_ALLOWANCE_MIN);
  for (int i = 0; i < 20; i++) fill_and_take(&now_ms, 1);
  CHECK(allowance.window == 4 * RD_ALLOWANCE_MIN && budget == 0);
  rd_allowance_end(&allowance, &budget);
  CHECK(budget == 3 * RD_ALLOWANCE_MIN);
}

// If a window was reduced while more was granted, nothing is granted until that has arrived.
static void test_never_beyond_the_window(void) {
  int64_t now_ms = 0;
  begin(RD_ALLOWANCE_BUDGET);
  uint32_t seed = 1;
  for (int i = 0; i < 100000; i++) {
    seed = seed * 1664525u + 1013904223u;
    uint32_t some = allowance.granted > 0 ? (seed >> 8) % (allowance.granted + 1) : 0;
    CHECK(rd_allowance_arrived(&allowance, some));
    uint32_t taken = (seed >> 4) % (allowance.waiting + 1), before = allowance.granted + allowance.waiting - taken;
    uint32_t grant = rd_allowance_taken(&allowance, taken, now_ms += (seed >> 20) % 3000, &budget);
    CHECK(allowance.granted + allowance.waiting == before + grant);
    CHECK(grant == 0 || before + grant <= allowance.window);
    CHECK(allowance.granted + allowance.waiting > 0); // a sender can always expect a grant
  }
}

int main(void) {
  test_no_more_than_granted();
  test_grows_and_shrinks();
  test_budget();
  test_never_beyond_the_window();
  return test_end("forward_allowance");
}
