// SPDX-License-Identifier: Apache-2.0
#include "base/byte_queue.h"

#include "base/memory.h"

#include <stdlib.h>
#include <string.h>

#define BYTES_MIN 4096u

static void move_to_front(struct rd_byte_queue *queue);
static void grow(struct rd_byte_queue *queue, size_t capacity);

unsigned char *rd_byte_queue_reserve(struct rd_byte_queue *queue, size_t count) {
  size_t waiting = rd_byte_queue_count(queue);
  if (waiting == 0) queue->start = queue->end = 0;
  if (queue->capacity - queue->end >= count) return queue->memory + queue->end;
  move_to_front(queue);
  size_t wanted = queue->capacity > 0 ? queue->capacity : BYTES_MIN;
  // Twice the queued bytes, so that bytes are not moved each time.
  while (wanted - waiting < count || wanted < 2 * waiting) wanted *= 2;
  if (wanted > queue->capacity) grow(queue, wanted);
  return queue->memory + queue->end;
}

void rd_byte_queue_fill(struct rd_byte_queue *queue, size_t count) {
  queue->end += count;
}

void rd_byte_queue_append(struct rd_byte_queue *queue, const void *bytes, size_t count) {
  memcpy(rd_byte_queue_reserve(queue, count), bytes, count);
  rd_byte_queue_fill(queue, count);
}

void rd_byte_queue_insert(struct rd_byte_queue *queue, size_t at, const void *bytes, size_t count) {
  rd_byte_queue_reserve(queue, count);
  unsigned char *place = queue->memory + queue->start + at;
  memmove(place + count, place, rd_byte_queue_count(queue) - at);
  memcpy(place, bytes, count);
  rd_byte_queue_fill(queue, count);
  if (queue->searched > at) queue->searched = at;
}

size_t rd_byte_queue_count(const struct rd_byte_queue *queue) {
  return queue->end - queue->start;
}

const unsigned char *rd_byte_queue_first(const struct rd_byte_queue *queue) {
  return queue->memory + queue->start;
}

void rd_byte_queue_take(struct rd_byte_queue *queue, size_t count) {
  if (queue->is_secret && count > 0) explicit_bzero(queue->memory + queue->start, count);
  queue->start += count;
  queue->searched = queue->searched > count ? queue->searched - count : 0;
}

char *rd_byte_queue_line(struct rd_byte_queue *queue, size_t *count) {
  size_t waiting = rd_byte_queue_count(queue);
  if (queue->searched == waiting) return NULL;
  char *first = (char *)queue->memory + queue->start;
  char *newline = memchr(first + queue->searched, '\n', waiting - queue->searched);
  queue->searched = newline == NULL ? waiting : (size_t)(newline - first);
  if (newline == NULL) return NULL;
  *newline = '\0';
  *count = queue->searched;
  return first;
}

void rd_byte_queue_clear(struct rd_byte_queue *queue) {
  if (queue->is_secret && queue->memory != NULL) explicit_bzero(queue->memory, queue->capacity);
  free(queue->memory);
  *queue = (struct rd_byte_queue){.is_secret = queue->is_secret};
}

static void move_to_front(struct rd_byte_queue *queue) {
  size_t waiting = rd_byte_queue_count(queue);
  if (queue->start == 0) return;
  memmove(queue->memory, queue->memory + queue->start, waiting);
  if (queue->is_secret) explicit_bzero(queue->memory + waiting, queue->end - waiting);
  queue->start = 0;
  queue->end = waiting;
}

// realloc() would leave a copy of the bytes where they were.
static void grow(struct rd_byte_queue *queue, size_t capacity) {
  if (queue->is_secret) {
    unsigned char *memory = rd_memory_new(capacity, 1);
    if (queue->end > 0) memcpy(memory, queue->memory, queue->end);
    if (queue->memory != NULL) explicit_bzero(queue->memory, queue->capacity);
    free(queue->memory);
    queue->memory = memory;
  } else {
    queue->memory = rd_memory_resize(queue->memory, capacity, 1);
  }
  queue->capacity = capacity;
}
