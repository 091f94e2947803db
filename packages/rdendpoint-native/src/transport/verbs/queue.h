// SPDX-License-Identifier: Apache-2.0
// A connection's queue pair, with a completion queue for each direction.
// Arrivals wake the process. Completed SENDs are polled when their memory is needed, and wake it only on request.
#ifndef RD_TRANSPORT_VERBS_QUEUE_H
#define RD_TRANSPORT_VERBS_QUEUE_H

#include "transport/verbs/id.h"

#define RD_VERBS_QUEUE_SENDS_MAX 32u     // SENDs that may be on their way
#define RD_VERBS_QUEUE_RECEIVES_MAX 128u // buffers that may be posted
#define RD_VERBS_QUEUE_PIECES_MAX 5u     // pieces of memory that one SEND gathers

#define RD_VERBS_QUEUE_INLINE_BYTES 220u // of a SEND whose bytes the device need not fetch from memory

struct rd_verbs_completions {
  struct ibv_cq *queue;
  unsigned unacknowledged; // events taken
  bool armed;              // the next completion makes the channel readable
};

struct rd_verbs_queue {
  const struct rd_verbs_library *verbs;
  struct rdma_cm_id *id; // the caller's
  struct ibv_pd *domain;
  struct ibv_comp_channel *channel;
  struct rd_verbs_completions arrived, sent;
  uint32_t inline_bytes; // that the device takes
};

// The id must have a device: its address is resolved, or a listener gave it. RD_CODE_INTERNAL on failure.
bool rd_verbs_queue_open(struct rd_verbs_queue *queue, const struct rd_verbs_id *id, struct rd_error *error);
// Closes queue pair, completion queues and channel; the protection domain is closed after all memory is deregistered.
// All zeros are allowed.
void rd_verbs_queue_close(struct rd_verbs_queue *queue);
void rd_verbs_queue_close_domain(struct rd_verbs_queue *queue);

// Posts one buffer, or one SEND, which is signaled.
bool rd_verbs_queue_post_receive(struct rd_verbs_queue *queue, uint64_t wr_id, struct ibv_sge buffer,
                                 struct rd_error *error);
bool rd_verbs_queue_post_send(struct rd_verbs_queue *queue, uint64_t wr_id, struct ibv_sge *pieces, int count,
                              struct rd_error *error);

// Takes up to `most` completions of queue->arrived or queue->sent and returns their number; -1: the device failed.
int rd_verbs_queue_poll(const struct rd_verbs_completions *from, struct ibv_wc *completions, int most);

// Requests a wake-up by the next completion; false: it was requested already. After true poll once more, then wait.
bool rd_verbs_queue_arm(struct rd_verbs_completions *completions);
// Takes one wake-up; false: there was none.
bool rd_verbs_queue_woken(struct rd_verbs_queue *queue);
int rd_verbs_queue_fd(const struct rd_verbs_queue *queue); // readable when a completion came after rd_verbs_queue_arm()

#endif
