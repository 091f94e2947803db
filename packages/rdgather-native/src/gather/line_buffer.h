// SPDX-License-Identifier: Apache-2.0
// The bytes of one input of a gathering that are no whole line yet.
#ifndef RD_GATHER_LINE_BUFFER_H
#define RD_GATHER_LINE_BUFFER_H

#include <stdbool.h>
#include <stddef.h>

#define RD_LINE_BUFFER_MAX_BYTES (1u << 20)

struct rd_line_buffer {
  char *bytes; // NULL: none yet
  size_t count, capacity;
};

// Room for more bytes, at least one; *room is how many. NULL: there are RD_LINE_BUFFER_MAX_BYTES without a line's end.
char *rd_line_buffer_room(struct rd_line_buffer *buffer, size_t *room);
// The whole lines at its beginning: how many bytes they have, 0 for none.
size_t rd_line_buffer_whole(const struct rd_line_buffer *buffer, size_t looked_at);
// Drops so many bytes from its beginning.
void rd_line_buffer_drop(struct rd_line_buffer *buffer, size_t count);
void rd_line_buffer_clear(struct rd_line_buffer *buffer); // frees

#endif
