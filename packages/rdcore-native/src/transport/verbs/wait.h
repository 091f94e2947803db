// SPDX-License-Identifier: Apache-2.0
// How an RDMA connection waits: one descriptor for all that can wake it, and how long to look before that.
#ifndef RD_TRANSPORT_VERBS_WAIT_H
#define RD_TRANSPORT_VERBS_WAIT_H

#include "transport/verbs/queue.h"
#include "transport/verbs/spin.h"

struct rd_verbs_wait {
  struct rd_verbs_queue *queue;
  int epoll_fd; // of the id, the completions, and wake_fd
  int id_fd;
  int wake_fd; // readable: something that had arrived can be received now
  bool poll;   // never ask the device to wake anybody
  struct rd_verbs_spin spin;
  int64_t armed_at_ns;
};

void rd_verbs_wait_init(struct rd_verbs_wait *wait, bool poll);
// For `id` and its queue, which outlive it.
bool rd_verbs_wait_open(struct rd_verbs_wait *wait, struct rd_verbs_queue *queue, const struct rd_verbs_id *id,
                        struct rd_error *error);
void rd_verbs_wait_close(struct rd_verbs_wait *wait); // also when it is only initialized, and twice

// The descriptor becomes readable.
void rd_verbs_wait_wake(const struct rd_verbs_wait *wait);
// What the descriptors tell. True: the id has events. That something completed is by far the most frequent, and what
// else there is they tell again.
bool rd_verbs_wait_check(struct rd_verbs_wait *wait);
// From now on the next arrival wakes, and the next SEND that is done if `for_sends`. False: what completed until now
// must be looked at first.
bool rd_verbs_wait_arm(struct rd_verbs_wait *wait, bool for_sends);

#endif
