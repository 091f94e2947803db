// SPDX-License-Identifier: Apache-2.0
#include "transport/verbs/spin.h"

#include "test.h"

static void looks_after_short_waits(void) {
  struct rd_verbs_spin spin;
  rd_verbs_spin_init(&spin, 2);
  CHECK(spin.budget_ns == 0);
  rd_verbs_spin_waited(&spin, RD_VERBS_SPIN_MAX_NS);
  CHECK(spin.budget_ns == 0);
  rd_verbs_spin_waited(&spin, RD_VERBS_SPIN_MAX_NS - 1);
  CHECK(spin.budget_ns == RD_VERBS_SPIN_MAX_NS);
}

static void gives_up_after_misses(void) {
  struct rd_verbs_spin spin;
  rd_verbs_spin_init(&spin, 2);
  rd_verbs_spin_waited(&spin, 1);
  int misses = 0;
  for (; spin.budget_ns > 0; misses++) rd_verbs_spin_missed(&spin);
  CHECK(misses > 1 && misses < 10);
  rd_verbs_spin_missed(&spin);
  CHECK(spin.budget_ns == 0);
}

static void never_on_one_processor(void) {
  struct rd_verbs_spin spin;
  rd_verbs_spin_init(&spin, 1);
  rd_verbs_spin_waited(&spin, 1);
  CHECK(spin.budget_ns == 0);
}

int main(void) {
  looks_after_short_waits();
  gives_up_after_misses();
  never_on_one_processor();
  return test_end("spin");
}
