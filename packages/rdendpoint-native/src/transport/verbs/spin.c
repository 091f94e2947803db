// SPDX-License-Identifier: Apache-2.0
#include "transport/verbs/spin.h"

void rd_verbs_spin_init(struct rd_verbs_spin *spin, int processors) {
  *spin = (struct rd_verbs_spin){.pays = processors > 1};
}

void rd_verbs_spin_missed(struct rd_verbs_spin *spin) {
  spin->budget_ns /= 2;
  if (spin->budget_ns < 1000) spin->budget_ns = 0;
}

void rd_verbs_spin_waited(struct rd_verbs_spin *spin, int64_t waited_ns) {
  if (spin->pays && waited_ns < RD_VERBS_SPIN_MAX_NS) spin->budget_ns = RD_VERBS_SPIN_MAX_NS;
}
