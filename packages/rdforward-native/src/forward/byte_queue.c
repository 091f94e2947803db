// SPDX-License-Identifier: Apache-2.0
#include "forward/byte_queue.h"

#include "base/memory.h"

#include <stdlib.h>
#include <string.h>

#define BYTES_MIN 4096u

unsigned char *rd_byte_queue_reserve(struct rd_byte_queue *queue, size_t count) {
  size_t waiting = rd_byte_queue_count(queue);
  if (waiting == 0) queue->start = queue->end = 0;
  if (queue->capacity - queue->end >= count) return queue->memory + queue->end;
  if (waiting > 0 && queue->start > 0) memmove(queue->memory, queue->memory + queue->start, waiting);
  queue->start = 0;
  queue->end = waiting;
  size_t wanted = queue->capacity > 0 ? queue->capacity : BYTES_MIN;
  // Twice the queued bytes, so that bytes are not moved each time.
  while (wanted - waiting < count || wanted < 2 * waiting) wanted *= 2;
  if (wanted > queue->capacity) queue->memory = rd_memory_resize(queue->memory, wanted, 1);
  queue->capacity = wanted;
  return queue->memory + queue->end;
}

void rd_byte_queue_fill(struct rd_byte_queue *queue, size_t count) {
  queue->end += count;
}

void rd_byte_queue_append(struct rd_byte_queue *queue, const void *bytes, size_t count) {
  memcpy(rd_byte_queue_reserve(queue, count), bytes, count);
  rd_byte_queue_fill(queue, count);
}

size_t rd_byte_queue_count(const struct rd_byte_queue *queue) {
  return queue->end - queue->start;
}

const unsigned char *rd_byte_queue_first(const struct rd_byte_queue *queue) {
  return queue->memory + queue->start;
}

void rd_byte_queue_take(struct rd_byte_queue *queue, size_t count) {
  queue->start += count;
}

void rd_byte_queue_clear(struct rd_byte_queue *queue) {
  free(queue->memory);
  *queue = (struct rd_byte_queue){0};
}
