// SPDX-License-Identifier: Apache-2.0
// Waits for an RDMA connection: one descriptor for all its wake-ups, and busy-polling before it.
#ifndef RD_TRANSPORT_VERBS_WAIT_H
#define RD_TRANSPORT_VERBS_WAIT_H

#include "transport/verbs/queue.h"
#include "transport/verbs/spin.h"

struct rd_verbs_wait {
  struct rd_verbs_queue *queue;
  int epoll_fd; // of the id, the completions, and wake_fd
  int id_fd;
  int wake_fd; // readable if an arrived message can be received now
  bool poll;   // never request wake-ups
  struct rd_verbs_spin spin;
  int64_t armed_at_ns;
};

void rd_verbs_wait_init(struct rd_verbs_wait *wait, bool poll);
// `queue` and `id` must outlive it.
bool rd_verbs_wait_open(struct rd_verbs_wait *wait, struct rd_verbs_queue *queue, const struct rd_verbs_id *id,
                        struct rd_error *error);
void rd_verbs_wait_close(struct rd_verbs_wait *wait); // also if it is only initialized; a second call is allowed

// Makes the descriptor readable.
void rd_verbs_wait_wake(const struct rd_verbs_wait *wait);
// Checks the descriptors. Returns true if the id has events. Checks for a completion first, by far the most frequent
// case; the other descriptors stay ready.
bool rd_verbs_wait_check(struct rd_verbs_wait *wait);
// Requests a wake-up by the next message that arrives and, if `for_sends`, by the next completed SEND. Returns false if
// completions must be taken first.
bool rd_verbs_wait_arm(struct rd_verbs_wait *wait, bool for_sends);

#endif
