// SPDX-License-Identifier: Apache-2.0
// A connection's queue pair, with a completion queue for each direction.
// Arrivals wake the process. Completed SENDs are polled when their memory is needed, and wake the process only on
// request.
#ifndef RD_TRANSPORT_VERBS_QUEUE_H
#define RD_TRANSPORT_VERBS_QUEUE_H

#include "transport/verbs/id.h"

#define RD_VERBS_QUEUE_SENDS_MAX 32u     // SENDs that may be in flight
#define RD_VERBS_QUEUE_RECEIVES_MAX 128u // buffers that may be posted
#define RD_VERBS_QUEUE_PIECES_MAX 5u     // pieces of memory that one SEND gathers

#define RD_VERBS_QUEUE_INLINE_BYTES 220u // a SEND up to this size is copied to the device when posted

struct rd_verbs_completions {
  struct ibv_cq *queue;
  unsigned unacknowledged; // number of events taken
  bool armed;              // the next completion makes the channel readable
};

struct rd_verbs_queue {
  const struct rd_verbs_library *verbs;
  struct rdma_cm_id *id; // the caller's
  struct ibv_pd *domain;
  struct ibv_comp_channel *channel;
  struct rd_verbs_completions arrived, sent;
  uint32_t inline_bytes; // how much the device accepts inline
};

// The id must have a device: its address is resolved, or it came from a listener. Returns false on failure
// (RD_CODE_INTERNAL).
bool rd_verbs_queue_open(struct rd_verbs_queue *queue, const struct rd_verbs_id *id, struct rd_error *error);
// Closes queue pair, completion queues and channel. Close the protection domain after all memory is deregistered. All
// zeros are allowed.
void rd_verbs_queue_close(struct rd_verbs_queue *queue);
void rd_verbs_queue_close_domain(struct rd_verbs_queue *queue);

// Posts one buffer, or one SEND, which is signaled.
bool rd_verbs_queue_post_receive(struct rd_verbs_queue *queue, uint64_t wr_id, struct ibv_sge buffer,
                                 struct rd_error *error);
bool rd_verbs_queue_post_send(struct rd_verbs_queue *queue, uint64_t wr_id, struct ibv_sge *pieces, int count,
                              struct rd_error *error);

// Takes up to `most` completions of queue->arrived or queue->sent and returns their number; -1 if the device failed.
int rd_verbs_queue_poll(const struct rd_verbs_completions *from, struct ibv_wc *completions, int most);

// Requests a wake-up by the next completion. Returns false if that was already requested; after true, poll once more,
// then wait.
bool rd_verbs_queue_arm(struct rd_verbs_completions *completions);
// Takes one wake-up. Returns false if there was none.
bool rd_verbs_queue_woken(struct rd_verbs_queue *queue);
int rd_verbs_queue_fd(const struct rd_verbs_queue *queue); // readable after rd_verbs_queue_arm() and a completion

#endif
