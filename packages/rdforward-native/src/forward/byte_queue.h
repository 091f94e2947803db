// SPDX-License-Identifier: Apache-2.0
// Bytes that wait, in one piece of memory that grows as needed and is freed when all were taken.
#ifndef RD_FORWARD_BYTE_QUEUE_H
#define RD_FORWARD_BYTE_QUEUE_H

#include <stddef.h>

struct rd_byte_queue {
  unsigned char *memory; // NULL while it is empty and was never kept
  size_t start, end, capacity;
};

// Room for `count` bytes behind those that wait; rd_byte_queue_fill() adds them. Never NULL.
unsigned char *rd_byte_queue_reserve(struct rd_byte_queue *queue, size_t count);
void rd_byte_queue_fill(struct rd_byte_queue *queue, size_t count);
void rd_byte_queue_append(struct rd_byte_queue *queue, const void *bytes, size_t count);

size_t rd_byte_queue_count(const struct rd_byte_queue *queue);
const unsigned char *rd_byte_queue_first(const struct rd_byte_queue *queue);
void rd_byte_queue_take(struct rd_byte_queue *queue, size_t count);

void rd_byte_queue_clear(struct rd_byte_queue *queue); // frees the memory

#endif
