// SPDX-License-Identifier: Apache-2.0
// Waiting for an RDMA connection: one descriptor for all its wake-ups, and busy-polling before it.
#ifndef RD_TRANSPORT_VERBS_WAIT_H
#define RD_TRANSPORT_VERBS_WAIT_H

#include "transport/verbs/queue.h"
#include "transport/verbs/spin.h"

struct rd_verbs_wait {
  struct rd_verbs_queue *queue;
  int epoll_fd; // of the id, the completions, and wake_fd
  int id_fd;
  int wake_fd; // readable: an arrived message can be received now
  bool poll;   // never request wake-ups
  struct rd_verbs_spin spin;
  int64_t armed_at_ns;
};

void rd_verbs_wait_init(struct rd_verbs_wait *wait, bool poll);
// For `id` and its queue, which outlive it.
bool rd_verbs_wait_open(struct rd_verbs_wait *wait, struct rd_verbs_queue *queue, const struct rd_verbs_id *id,
                        struct rd_error *error);
void rd_verbs_wait_close(struct rd_verbs_wait *wait); // also when it is only initialized; a second call is allowed

// Makes the descriptor readable.
void rd_verbs_wait_wake(const struct rd_verbs_wait *wait);
// Checks the descriptors. True: the id has events. A completion, by far the most frequent, is taken first; the other
// descriptors stay ready.
bool rd_verbs_wait_check(struct rd_verbs_wait *wait);
// Requests a wake-up by the next message that comes, and by the next completed SEND if `for_sends`. False: completions
// until now must be taken first.
bool rd_verbs_wait_arm(struct rd_verbs_wait *wait, bool for_sends);

#endif
