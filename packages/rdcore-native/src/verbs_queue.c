// SPDX-License-Identifier: Apache-2.0
#include "verbs_queue.h"

#include "io.h"

// Acknowledging takes a lock: in bulk.
#define ACKNOWLEDGE_AT 64u

static bool create_completions(struct rd_queue *queue, struct rd_error *error);
static bool create_pair(struct rd_queue *queue, struct rd_error *error);
static void acknowledge(struct rd_queue *queue);

bool rd_queue_open(struct rd_queue *queue, const struct rd_verbs_id *id, struct rd_error *error) {
  *queue = (struct rd_queue){.verbs = id->verbs, .id = id->id};
  queue->domain = id->verbs->ibv_alloc_pd(id->id->verbs);
  if (queue->domain == NULL)
    rd_error_set_errno(error, RD_CODE_INTERNAL, "cannot use the rdma device");
  else if (create_completions(queue, error) && create_pair(queue, error))
    return true;
  rd_queue_close(queue);
  rd_queue_close_domain(queue);
  return false;
}

void rd_queue_close(struct rd_queue *queue) {
  if (queue->id != NULL && queue->id->qp != NULL) queue->verbs->rdma_destroy_qp(queue->id);
  if (queue->completions != NULL) {
    acknowledge(queue);
    queue->verbs->ibv_destroy_cq(queue->completions);
  }
  if (queue->channel != NULL) queue->verbs->ibv_destroy_comp_channel(queue->channel);
  queue->id = NULL;
  queue->completions = NULL;
  queue->channel = NULL;
}

void rd_queue_close_domain(struct rd_queue *queue) {
  if (queue->domain != NULL) queue->verbs->ibv_dealloc_pd(queue->domain);
  queue->domain = NULL;
}

bool rd_queue_post_receive(struct rd_queue *queue, uint64_t name, struct ibv_sge buffer, struct rd_error *error) {
  struct ibv_recv_wr request = {.wr_id = name, .sg_list = &buffer, .num_sge = 1}, *bad;
  if (ibv_post_recv(queue->id->qp, &request, &bad) == 0) return true;
  rd_error_set(error, RD_CODE_INTERNAL, "the rdma device takes no more receive buffers");
  return false;
}

bool rd_queue_post_send(struct rd_queue *queue, uint64_t name, struct ibv_sge *pieces, int count,
                        struct rd_error *error) {
  struct ibv_send_wr request = {
      .wr_id = name, .sg_list = pieces, .num_sge = count, .opcode = IBV_WR_SEND, .send_flags = IBV_SEND_SIGNALED};
  struct ibv_send_wr *bad;
  if (ibv_post_send(queue->id->qp, &request, &bad) == 0) return true;
  rd_error_set(error, RD_CODE_INTERNAL, "the rdma device takes no more to send");
  return false;
}

int rd_queue_poll(struct rd_queue *queue, struct ibv_wc *completions, int most) {
  return ibv_poll_cq(queue->completions, most, completions);
}

bool rd_queue_arm(struct rd_queue *queue) {
  if (queue->armed) return false;
  queue->armed = ibv_req_notify_cq(queue->completions, 0) == 0;
  return queue->armed;
}

void rd_queue_woken(struct rd_queue *queue) {
  struct ibv_cq *which;
  void *context;
  if (!queue->armed || queue->verbs->ibv_get_cq_event(queue->channel, &which, &context) != 0) return;
  queue->armed = false;
  if (++queue->unacknowledged >= ACKNOWLEDGE_AT) acknowledge(queue);
}

int rd_queue_fd(const struct rd_queue *queue) {
  return queue->channel->fd;
}

static bool create_completions(struct rd_queue *queue, struct rd_error *error) {
  struct ibv_context *device = queue->id->verbs;
  queue->channel = queue->verbs->ibv_create_comp_channel(device);
  if (queue->channel != NULL && rd_set_nonblocking(queue->channel->fd)) {
    int most = RD_QUEUE_SENDS_MOST + RD_QUEUE_RECEIVES_MOST;
    queue->completions = queue->verbs->ibv_create_cq(device, most, NULL, queue->channel, 0);
  }
  if (queue->completions == NULL) rd_error_set_errno(error, RD_CODE_INTERNAL, "cannot make an rdma completion queue");
  return queue->completions != NULL;
}

static bool create_pair(struct rd_queue *queue, struct rd_error *error) {
  struct ibv_qp_init_attr attributes = {
      .send_cq = queue->completions,
      .recv_cq = queue->completions,
      .qp_type = IBV_QPT_RC,
      .cap = {.max_send_wr = RD_QUEUE_SENDS_MOST,
              .max_recv_wr = RD_QUEUE_RECEIVES_MOST,
              .max_send_sge = RD_QUEUE_PIECES_MOST,
              .max_recv_sge = 1},
  };
  struct ibv_device_attr device;
  if (queue->verbs->ibv_query_device(queue->id->verbs, &device) == 0 && device.max_sge < (int)RD_QUEUE_PIECES_MOST)
    attributes.cap.max_send_sge = (uint32_t)device.max_sge;
  if (queue->verbs->rdma_create_qp(queue->id, queue->domain, &attributes) == 0) return true;
  rd_error_set_errno(error, RD_CODE_INTERNAL, "cannot make an rdma queue pair");
  return false;
}

static void acknowledge(struct rd_queue *queue) {
  if (queue->unacknowledged > 0) queue->verbs->ibv_ack_cq_events(queue->completions, queue->unacknowledged);
  queue->unacknowledged = 0;
}
