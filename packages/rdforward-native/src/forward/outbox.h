// SPDX-License-Identifier: Apache-2.0
// Records on their way to the other end: they are gathered, and written in large pieces.
#ifndef RD_FORWARD_OUTBOX_H
#define RD_FORWARD_OUTBOX_H

#include "forward/byte_queue.h"
#include "forward/frame.h"

#include <stdbool.h>

// No more DATA goes in while so much waits.
#define RD_OUTBOX_DATA_BYTES (256u << 10)
// So much waits only where the other end asks for answers and does not read them.
#define RD_OUTBOX_MAX_BYTES (16u << 20)

struct rd_outbox {
  struct rd_byte_queue queue;
};

void rd_outbox_put(struct rd_outbox *outbox, const struct rd_forward_frame *frame); // not DATA
bool rd_outbox_has_room(const struct rd_outbox *outbox);
bool rd_outbox_is_empty(const struct rd_outbox *outbox);

// Room for the bytes of a DATA record, at most RD_FORWARD_DATA_MAX; rd_outbox_put_data() makes a record of `count`
// bytes that are there.
unsigned char *rd_outbox_data_room(struct rd_outbox *outbox);
void rd_outbox_put_data(struct rd_outbox *outbox, uint64_t stream, size_t count);

// Writes what the descriptor takes: DONE: all of it; AGAIN: no more for now; FAILED: with errno.
enum rd_outcome rd_outbox_flush(struct rd_outbox *outbox, int fd);

#endif
