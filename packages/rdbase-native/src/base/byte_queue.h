// SPDX-License-Identifier: Apache-2.0
// A queue of bytes in one block of memory, which grows as needed.
#ifndef RD_BASE_BYTE_QUEUE_H
#define RD_BASE_BYTE_QUEUE_H

#include <stdbool.h>
#include <stddef.h>

struct rd_byte_queue {
  unsigned char *memory; // NULL: empty, and never used
  size_t start, end, capacity;
  size_t searched; // of the queued bytes: they contain no end of a line
  bool is_secret;  // memory is wiped when bytes leave it
};

// Returns space for `count` bytes after the queued ones; rd_byte_queue_fill() adds them to the queue. Never NULL.
unsigned char *rd_byte_queue_reserve(struct rd_byte_queue *queue, size_t count);
void rd_byte_queue_fill(struct rd_byte_queue *queue, size_t count);
void rd_byte_queue_append(struct rd_byte_queue *queue, const void *bytes, size_t count);
// Inserts before the queued byte with that index.
void rd_byte_queue_insert(struct rd_byte_queue *queue, size_t at, const void *bytes, size_t count);

// The number of queued bytes, and the first of them; rd_byte_queue_take() removes `count` bytes from the front.
size_t rd_byte_queue_count(const struct rd_byte_queue *queue);
const unsigned char *rd_byte_queue_first(const struct rd_byte_queue *queue);
void rd_byte_queue_take(struct rd_byte_queue *queue, size_t count);
// Returns the first line and its length, and replaces its newline, which is not counted, by a NUL; take count + 1
// bytes before the next call. NULL: no complete line is queued.
char *rd_byte_queue_line(struct rd_byte_queue *queue, size_t *count);

void rd_byte_queue_clear(struct rd_byte_queue *queue); // frees the memory

#endif
