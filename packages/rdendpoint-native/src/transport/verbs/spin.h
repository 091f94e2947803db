// SPDX-License-Identifier: Apache-2.0
// How long to busy-poll before sleeping.
// A wake-up costs more than polling for a short while, and polling in vain costs the processor: the last outcome
// decides. Pure; times in nanoseconds.
#ifndef RD_TRANSPORT_VERBS_SPIN_H
#define RD_TRANSPORT_VERBS_SPIN_H

#include <stdbool.h>
#include <stdint.h>

#define RD_VERBS_SPIN_MAX_NS 50000

struct rd_verbs_spin {
  bool pays;         // there is another processor for the sender
  int64_t budget_ns; // 0: do not poll
};

// `processors`: how many this process may run on.
void rd_verbs_spin_init(struct rd_verbs_spin *spin, int processors);

// Polled for the whole budget without a completion.
void rd_verbs_spin_missed(struct rd_verbs_spin *spin);
// Was woken after so long: polling would have found it, or not.
void rd_verbs_spin_waited(struct rd_verbs_spin *spin, int64_t waited_ns);

#endif
