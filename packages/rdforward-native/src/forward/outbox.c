// SPDX-License-Identifier: Apache-2.0
#include "forward/outbox.h"

#include "base/io.h"

#include <errno.h>

void rd_outbox_put(struct rd_outbox *outbox, const struct rd_forward_frame *frame) {
  unsigned char *room = rd_byte_queue_reserve(&outbox->queue, RD_FORWARD_CONTROL_MAX);
  rd_byte_queue_fill(&outbox->queue, rd_forward_frame_encode(frame, room));
}

bool rd_outbox_has_room(const struct rd_outbox *outbox) {
  return rd_byte_queue_count(&outbox->queue) < RD_OUTBOX_DATA_BYTES;
}

bool rd_outbox_is_empty(const struct rd_outbox *outbox) {
  return rd_byte_queue_count(&outbox->queue) == 0;
}

unsigned char *rd_outbox_data_room(struct rd_outbox *outbox) {
  return rd_byte_queue_reserve(&outbox->queue, RD_FORWARD_HEAD_BYTES + RD_FORWARD_DATA_MAX) + RD_FORWARD_HEAD_BYTES;
}

void rd_outbox_put_data(struct rd_outbox *outbox, uint64_t stream, size_t count) {
  rd_forward_frame_encode_data(stream, count, rd_byte_queue_reserve(&outbox->queue, 0));
  rd_byte_queue_fill(&outbox->queue, RD_FORWARD_HEAD_BYTES + count);
}

enum rd_outcome rd_outbox_flush(struct rd_outbox *outbox, int fd) {
  while (!rd_outbox_is_empty(outbox)) {
    ssize_t written = rd_write_some(fd, rd_byte_queue_first(&outbox->queue), rd_byte_queue_count(&outbox->queue));
    if (written < 0) return errno == EAGAIN ? RD_OUTCOME_AGAIN : RD_OUTCOME_FAILED;
    rd_byte_queue_take(&outbox->queue, (size_t)written);
  }
  return RD_OUTCOME_DONE;
}
