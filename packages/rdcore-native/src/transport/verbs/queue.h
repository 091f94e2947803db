// SPDX-License-Identifier: Apache-2.0
// A connection's queue pair, and a completion queue of each direction, on the device of its id. Arrivals wake; that a
// SEND is done is looked up when its memory is needed, and wakes only those who ask for it.
#ifndef RD_TRANSPORT_VERBS_QUEUE_H
#define RD_TRANSPORT_VERBS_QUEUE_H

#include "transport/verbs/id.h"

#define RD_VERBS_QUEUE_SENDS_MOST 32u     // SENDs that may be on their way
#define RD_VERBS_QUEUE_RECEIVES_MOST 128u // buffers that may be posted
#define RD_VERBS_QUEUE_PIECES_MOST 5u     // pieces of memory that one SEND gathers

#define RD_VERBS_QUEUE_INLINE_BYTES 220u // of a SEND that the processor hands to the device, which need not fetch it

struct rd_verbs_completions {
  struct ibv_cq *queue;
  unsigned unacknowledged; // events that were taken
  bool armed;              // the channel will tell of the next completion
};

struct rd_verbs_queue {
  const struct rd_verbs_library *verbs;
  struct rdma_cm_id *id; // the caller's
  struct ibv_pd *domain;
  struct ibv_comp_channel *channel;
  struct rd_verbs_completions arrived, sent;
  uint32_t inline_bytes; // that the device takes
};

// The id has a device: its address is resolved, or it came from a listener. RD_CODE_INTERNAL on failure.
bool rd_verbs_queue_open(struct rd_verbs_queue *queue, const struct rd_verbs_id *id, struct rd_error *error);
// Queue pair, completion queues, channel; the protection domain goes with rd_verbs_queue_close_domain(), when all
// memory is deregistered. Both also of all zeros.
void rd_verbs_queue_close(struct rd_verbs_queue *queue);
void rd_verbs_queue_close_domain(struct rd_verbs_queue *queue);

// Posts one buffer, or one SEND, which is signaled.
bool rd_verbs_queue_post_receive(struct rd_verbs_queue *queue, uint64_t wr_id, struct ibv_sge buffer,
                                 struct rd_error *error);
bool rd_verbs_queue_post_send(struct rd_verbs_queue *queue, uint64_t wr_id, struct ibv_sge *pieces, int count,
                              struct rd_error *error);

// Up to `most` completions that are there, of queue->arrived or queue->sent; -1: the device failed.
int rd_verbs_queue_poll(const struct rd_verbs_completions *from, struct ibv_wc *completions, int most);

// Asks to be woken by the next completion of it; false: it was asked already. After true poll once more, then wait.
bool rd_verbs_queue_arm(struct rd_verbs_completions *completions);
// Takes one wake-up back; false: there was none.
bool rd_verbs_queue_woken(struct rd_verbs_queue *queue);
int rd_verbs_queue_fd(const struct rd_verbs_queue *queue); // readable when a completion came after rd_verbs_queue_arm()

#endif
