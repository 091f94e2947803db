// SPDX-License-Identifier: Apache-2.0
#include "transport/verbs/queue.h"

#include "base/io.h"

// Acknowledging takes a lock, so it is done for many events at once.
#define ACKNOWLEDGE_AT 64u

static bool fits_inline(const struct rd_verbs_queue *queue, const struct ibv_sge *pieces, int count);
static bool create_completions(struct rd_verbs_queue *queue, struct rd_error *error);
static bool create_pair(struct rd_verbs_queue *queue, struct rd_error *error);
static void acknowledge(const struct rd_verbs_queue *queue, struct rd_verbs_completions *completions);
static void destroy_completions(const struct rd_verbs_queue *queue, struct rd_verbs_completions *completions);

bool rd_verbs_queue_open(struct rd_verbs_queue *queue, const struct rd_verbs_id *id, struct rd_error *error) {
  *queue = (struct rd_verbs_queue){.verbs = id->verbs, .id = id->id};
  queue->domain = id->verbs->ibv_alloc_pd(id->id->verbs);
  if (queue->domain == NULL)
    rd_error_set_errno(error, RD_CODE_INTERNAL, "cannot use the RDMA device");
  else if (create_completions(queue, error) && create_pair(queue, error))
    return true;
  rd_verbs_queue_close(queue);
  rd_verbs_queue_close_domain(queue);
  return false;
}

void rd_verbs_queue_close(struct rd_verbs_queue *queue) {
  if (queue->id != NULL && queue->id->qp != NULL) queue->verbs->rdma_destroy_qp(queue->id);
  destroy_completions(queue, &queue->arrived);
  destroy_completions(queue, &queue->sent);
  if (queue->channel != NULL) queue->verbs->ibv_destroy_comp_channel(queue->channel);
  queue->id = NULL;
  queue->channel = NULL;
}

void rd_verbs_queue_close_domain(struct rd_verbs_queue *queue) {
  if (queue->domain != NULL) queue->verbs->ibv_dealloc_pd(queue->domain);
  queue->domain = NULL;
}

bool rd_verbs_queue_post_receive(struct rd_verbs_queue *queue, uint64_t wr_id, struct ibv_sge buffer,
                                 struct rd_error *error) {
  struct ibv_recv_wr request = {.wr_id = wr_id, .sg_list = &buffer, .num_sge = 1}, *bad;
  if (ibv_post_recv(queue->id->qp, &request, &bad) == 0) return true;
  rd_error_set(error, RD_CODE_INTERNAL, "the RDMA device accepts no more receive buffers");
  return false;
}

bool rd_verbs_queue_post_send(struct rd_verbs_queue *queue, uint64_t wr_id, struct ibv_sge *pieces, int count,
                              struct rd_error *error) {
  struct ibv_send_wr request = {
      .wr_id = wr_id, .sg_list = pieces, .num_sge = count, .opcode = IBV_WR_SEND, .send_flags = IBV_SEND_SIGNALED};
  struct ibv_send_wr *bad;
  if (fits_inline(queue, pieces, count)) request.send_flags |= IBV_SEND_INLINE;
  if (ibv_post_send(queue->id->qp, &request, &bad) == 0) return true;
  rd_error_set(error, RD_CODE_INTERNAL, "the RDMA device accepts no more sends");
  return false;
}

int rd_verbs_queue_poll(const struct rd_verbs_completions *from, struct ibv_wc *completions, int most) {
  return ibv_poll_cq(from->queue, most, completions);
}

bool rd_verbs_queue_arm(struct rd_verbs_completions *completions) {
  if (completions->armed) return false;
  completions->armed = ibv_req_notify_cq(completions->queue, 0) == 0;
  return completions->armed;
}

bool rd_verbs_queue_woken(struct rd_verbs_queue *queue) {
  struct ibv_cq *which;
  void *context;
  bool is_armed = queue->arrived.armed || queue->sent.armed;
  if (!is_armed || queue->verbs->ibv_get_cq_event(queue->channel, &which, &context) != 0) return false;
  struct rd_verbs_completions *completions = which == queue->sent.queue ? &queue->sent : &queue->arrived;
  completions->armed = false;
  if (++completions->unacknowledged >= ACKNOWLEDGE_AT) acknowledge(queue, completions);
  return true;
}

int rd_verbs_queue_fd(const struct rd_verbs_queue *queue) {
  return queue->channel->fd;
}

static bool fits_inline(const struct rd_verbs_queue *queue, const struct ibv_sge *pieces, int count) {
  uint64_t bytes = 0;
  for (int i = 0; i < count; i++) bytes += pieces[i].length;
  return bytes <= queue->inline_bytes;
}

static bool create_completions(struct rd_verbs_queue *queue, struct rd_error *error) {
  struct ibv_context *device = queue->id->verbs;
  queue->channel = queue->verbs->ibv_create_comp_channel(device);
  if (queue->channel != NULL && rd_set_nonblocking(queue->channel->fd)) {
    queue->arrived.queue = queue->verbs->ibv_create_cq(device, RD_VERBS_QUEUE_RECEIVES_MAX, NULL, queue->channel, 0);
    queue->sent.queue = queue->verbs->ibv_create_cq(device, RD_VERBS_QUEUE_SENDS_MAX, NULL, queue->channel, 0);
  }
  if (queue->arrived.queue != NULL && queue->sent.queue != NULL) return true;
  rd_error_set_errno(error, RD_CODE_INTERNAL, "cannot create an RDMA completion queue");
  return false;
}

static bool create_pair(struct rd_verbs_queue *queue, struct rd_error *error) {
  struct ibv_qp_init_attr attributes = {
      .send_cq = queue->sent.queue,
      .recv_cq = queue->arrived.queue,
      .qp_type = IBV_QPT_RC,
      .cap = {.max_send_wr = RD_VERBS_QUEUE_SENDS_MAX,
              .max_recv_wr = RD_VERBS_QUEUE_RECEIVES_MAX,
              .max_send_sge = RD_VERBS_QUEUE_PIECES_MAX,
              .max_recv_sge = 1,
              .max_inline_data = RD_VERBS_QUEUE_INLINE_BYTES},
  };
  struct ibv_device_attr device;
  if (queue->verbs->ibv_query_device(queue->id->verbs, &device) == 0 && device.max_sge < (int)RD_VERBS_QUEUE_PIECES_MAX)
    attributes.cap.max_send_sge = (uint32_t)device.max_sge;
  bool created = queue->verbs->rdma_create_qp(queue->id, queue->domain, &attributes) == 0;
  if (!created) { // some devices do not accept that much inline data
    attributes.cap.max_inline_data = 0;
    created = queue->verbs->rdma_create_qp(queue->id, queue->domain, &attributes) == 0;
  }
  queue->inline_bytes = attributes.cap.max_inline_data;
  if (!created) rd_error_set_errno(error, RD_CODE_INTERNAL, "cannot create an RDMA queue pair");
  return created;
}

// Also called before a queue is destroyed, because ibv_destroy_cq() waits for the acknowledgement.
static void acknowledge(const struct rd_verbs_queue *queue, struct rd_verbs_completions *completions) {
  if (completions->unacknowledged > 0) queue->verbs->ibv_ack_cq_events(completions->queue, completions->unacknowledged);
  completions->unacknowledged = 0;
}

static void destroy_completions(const struct rd_verbs_queue *queue, struct rd_verbs_completions *completions) {
  if (completions->queue == NULL) return;
  acknowledge(queue, completions);
  queue->verbs->ibv_destroy_cq(completions->queue);
  *completions = (struct rd_verbs_completions){0};
}
