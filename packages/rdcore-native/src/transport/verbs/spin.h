// SPDX-License-Identifier: Apache-2.0
// How long to look for a message before asking to be woken for it. Being woken costs more than looking for a while,
// and looking in vain costs the processor: what happened last time decides. Pure; times in nanoseconds.
#ifndef RD_TRANSPORT_VERBS_SPIN_H
#define RD_TRANSPORT_VERBS_SPIN_H

#include <stdbool.h>
#include <stdint.h>

#define RD_VERBS_SPIN_MOST_NS 50000

struct rd_verbs_spin {
  bool pays;         // there is another processor for whoever is to send
  int64_t budget_ns; // 0: do not look
};

// `processors`: how many this process may run on.
void rd_verbs_spin_init(struct rd_verbs_spin *spin, int processors);

// Looked for the whole budget, and nothing came.
void rd_verbs_spin_missed(struct rd_verbs_spin *spin);
// Was woken after so long: looking would have found it, or not.
void rd_verbs_spin_waited(struct rd_verbs_spin *spin, int64_t waited_ns);

#endif
