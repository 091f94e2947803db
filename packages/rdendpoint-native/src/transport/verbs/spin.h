// SPDX-License-Identifier: Apache-2.0
// Decides how long to busy-poll before sleeping.
// A wake-up costs more than polling for a short while, and polling in vain costs CPU time: the last outcome decides.
// Pure; times in nanoseconds.
#ifndef RD_TRANSPORT_VERBS_SPIN_H
#define RD_TRANSPORT_VERBS_SPIN_H

#include <stdbool.h>
#include <stdint.h>

#define RD_VERBS_SPIN_MAX_NS 50000

struct rd_verbs_spin {
  bool pays;         // there is another CPU for the sender
  int64_t budget_ns; // 0: do not poll
};

// `processors`: the number of CPUs that this process may run on.
void rd_verbs_spin_init(struct rd_verbs_spin *spin, int processors);

// Polled for the whole budget without a completion.
void rd_verbs_spin_missed(struct rd_verbs_spin *spin);
// Was woken after `waited_ns`: decides whether polling would have found the completion.
void rd_verbs_spin_waited(struct rd_verbs_spin *spin, int64_t waited_ns);

#endif
