// SPDX-License-Identifier: Apache-2.0
#include "gather/line_buffer.h"

#include "base/memory.h"

#include <stdlib.h>
#include <string.h>

#define FIRST_BYTES 4096u

char *rd_line_buffer_room(struct rd_line_buffer *buffer, size_t *room) {
  if (buffer->count == buffer->capacity) {
    if (buffer->capacity == RD_LINE_BUFFER_MAX_BYTES) return NULL;
    buffer->capacity = buffer->capacity == 0 ? FIRST_BYTES : 4 * buffer->capacity;
    buffer->bytes = rd_memory_resize(buffer->bytes, buffer->capacity, 1);
  }
  *room = buffer->capacity - buffer->count;
  return buffer->bytes + buffer->count;
}

// The first `looked_at` bytes were searched before and contain no end of a line.
size_t rd_line_buffer_whole(const struct rd_line_buffer *buffer, size_t looked_at) {
  if (buffer->count == looked_at) return 0;
  const char *last = memrchr(buffer->bytes + looked_at, '\n', buffer->count - looked_at);
  return last == NULL ? 0 : (size_t)(last - buffer->bytes) + 1;
}

void rd_line_buffer_drop(struct rd_line_buffer *buffer, size_t count) {
  buffer->count -= count;
  if (buffer->count > 0) memmove(buffer->bytes, buffer->bytes + count, buffer->count);
}

void rd_line_buffer_clear(struct rd_line_buffer *buffer) {
  free(buffer->bytes);
  *buffer = (struct rd_line_buffer){0};
}
