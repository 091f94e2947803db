// SPDX-License-Identifier: Apache-2.0
// The receiving half of an RDMA connection: posted buffers, and messages assembled from their pieces.
#ifndef RD_TRANSPORT_VERBS_RECEIVE_H
#define RD_TRANSPORT_VERBS_RECEIVE_H

#include "transport/transport.h"
#include "transport/verbs/flow.h"
#include "transport/verbs/queue.h"
#include "wire/slots.h"

// Distinguishes the wr_ids of receive buffers from those of SENDs.
#define RD_VERBS_RECEIVE_WR (1ull << 63)
// Messages assembled from pieces that can be held at a time.
#define RD_VERBS_RECEIVE_JOINED_MAX 16u

struct rd_verbs_receive_piece {
  uint64_t wr_id; // of the buffer
  uint32_t bytes;
  uint32_t message; // of the preamble
};

struct rd_verbs_receive {
  struct rd_verbs_queue *queue;
  struct rd_verbs_flow *flow;
  unsigned char *small; // RD_VERBS_SMALL_BUFFERS
  struct ibv_mr *small_region;
  struct rd_slots slots; // large buffers, once armed
  struct ibv_mr *slots_region;
  bool armed;
  bool is_numbered;                                                  // each length has a number in its upper bits
  unsigned held, held_most;                                          // messages returned and not given back
  struct rd_verbs_receive_piece pieces[RD_VERBS_QUEUE_RECEIVES_MAX]; // arrived and not taken yet
  unsigned pieces_first, pieces_count;
  unsigned char *joining; // the message whose pieces are arriving; NULL: none
  size_t joining_bytes, joined_bytes;
  unsigned char *joined[RD_VERBS_RECEIVE_JOINED_MAX]; // returned to the caller; NULL: free
};

// Allocates and posts the small buffers.
bool rd_verbs_receive_open(struct rd_verbs_receive *receive, struct rd_verbs_queue *queue, struct rd_verbs_flow *flow,
                           struct rd_error *error);
// Deregisters the memory, which stays valid. Call after the queue pair is destroyed. All zeros and a second call are
// allowed.
void rd_verbs_receive_detach(struct rd_verbs_receive *receive);
// Frees the memory. Call after rd_verbs_receive_detach(). All zeros are allowed.
void rd_verbs_receive_close(struct rd_verbs_receive *receive);

// Implements the transport's arm().
bool rd_verbs_receive_arm(struct rd_verbs_receive *receive, unsigned slots, size_t payload_bytes,
                          struct rd_error *error);
// Returns the number of this end's buffers in circulation, which the peer should know.
uint32_t rd_verbs_receive_circulating(const struct rd_verbs_receive *receive);

// A buffer was filled. Returns false if the data is damaged (RD_CODE_DATA_DAMAGED) or the buffer could not be posted
// again.
bool rd_verbs_receive_arrived(struct rd_verbs_receive *receive, uint64_t wr_id, uint32_t bytes, struct rd_error *error);
// Implements the transport's receive(), from the arrived pieces. *number: that of the message; 0 without numbers.
enum rd_outcome rd_verbs_receive_next(struct rd_verbs_receive *receive, struct rd_message *message, unsigned *number,
                                      struct rd_error *error);
// Takes the message's buffer back; rd_verbs_receive_next() may then return another message.
bool rd_verbs_receive_give_back(struct rd_verbs_receive *receive, const struct rd_message *message,
                                struct rd_error *error);

#endif
