// SPDX-License-Identifier: Apache-2.0
// Buffers that one thread fills with records and others empty.
// They are used again, because the kernel would have to clear the pages of new ones.
#ifndef RD_TREE_BUFFERS_H
#define RD_TREE_BUFFERS_H

#include "stream/record.h"

#define RD_BUFFER_BYTES (2 * (RD_RECORD_HEAD_BYTES + RD_RECORD_MAX_BYTES))

struct rd_buffers; // opaque

struct rd_buffers *rd_buffers_create(void); // never NULL
// All buffers must have come back. NULL-safe.
void rd_buffers_destroy(struct rd_buffers *buffers);
// Returns RD_BUFFER_BYTES, page-aligned, those that came back last first; never NULL. Any thread may call this and the
// next function.
unsigned char *rd_buffers_take(struct rd_buffers *buffers);
void rd_buffers_give(struct rd_buffers *buffers, unsigned char *buffer);

#endif
