// SPDX-License-Identifier: Apache-2.0
// The bytes of one input of a gathering that are not a complete line yet.
#ifndef RD_GATHER_LINE_BUFFER_H
#define RD_GATHER_LINE_BUFFER_H

#include <stdbool.h>
#include <stddef.h>

#define RD_LINE_BUFFER_MAX_BYTES (1u << 20)

struct rd_line_buffer {
  char *bytes; // NULL: none yet
  size_t count, capacity;
};

// Returns space for more bytes, at least one; *room is the number. Returns NULL if RD_LINE_BUFFER_MAX_BYTES have no end
// of a line.
char *rd_line_buffer_room(struct rd_line_buffer *buffer, size_t *room);
// Returns the number of bytes of the complete lines at the beginning; 0: none.
size_t rd_line_buffer_whole(const struct rd_line_buffer *buffer, size_t looked_at);
// Drops `count` bytes from the beginning.
void rd_line_buffer_drop(struct rd_line_buffer *buffer, size_t count);
void rd_line_buffer_clear(struct rd_line_buffer *buffer); // frees the memory

#endif
