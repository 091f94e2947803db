// SPDX-License-Identifier: Apache-2.0
// Records to be sent to the other end, collected and written in large pieces.
#ifndef RD_FORWARD_OUTBOX_H
#define RD_FORWARD_OUTBOX_H

#include "base/byte_queue.h"
#include "forward/frame.h"

#include <stdbool.h>

// No more DATA is added while this much is queued.
#define RD_OUTBOX_DATA_BYTES (256u << 10)
// This much is queued only if the other end requests answers but does not read them.
#define RD_OUTBOX_MAX_BYTES (16u << 20)

struct rd_outbox {
  struct rd_byte_queue queue;
};

void rd_outbox_put(struct rd_outbox *outbox, const struct rd_forward_frame *frame); // not DATA
// Returns true if more DATA may be added.
bool rd_outbox_has_room(const struct rd_outbox *outbox);
bool rd_outbox_is_empty(const struct rd_outbox *outbox);

// Returns space for the bytes of a DATA record, at most RD_FORWARD_DATA_MAX; rd_outbox_put_data() makes a record of the
// first `count` bytes there.
unsigned char *rd_outbox_data_room(struct rd_outbox *outbox);
void rd_outbox_put_data(struct rd_outbox *outbox, uint64_t stream, size_t count);

// Writes as much as the descriptor accepts. DONE: everything; AGAIN: no more for now; FAILED: see errno.
enum rd_outcome rd_outbox_flush(struct rd_outbox *outbox, int fd);

#endif
