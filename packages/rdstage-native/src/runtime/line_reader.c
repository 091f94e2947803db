// SPDX-License-Identifier: Apache-2.0
// Reads the available bytes of a descriptor and splits them into lines of a limited length.
#include "base/io.h"
#include "base/memory.h"
#include "runtime/lines.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#define READ_BYTES 65536u

struct rd_line_reader {
  int fd;
  size_t line_max_bytes;
  char *held; // the beginning of a line
  size_t held_bytes, capacity_bytes;
};

static void make_room(struct rd_line_reader *reader);
static enum rd_lines_state hand_over(struct rd_line_reader *reader, size_t searched, rd_line_function *function,
                                     void *context, struct rd_error *error);

struct rd_line_reader *rd_line_reader_create(int fd, size_t line_max_bytes) {
  struct rd_line_reader *reader = rd_memory_new(1, sizeof *reader);
  reader->fd = fd;
  reader->line_max_bytes = line_max_bytes;
  return reader;
}

void rd_line_reader_destroy(struct rd_line_reader *reader) {
  if (reader == NULL) return;
  if (reader->held != NULL) explicit_bzero(reader->held, reader->capacity_bytes); // keys pass through it
  free(reader->held);
  free(reader);
}

enum rd_lines_state rd_line_reader_take(struct rd_line_reader *reader, rd_line_function *function, void *context,
                                        struct rd_error *error) {
  if (reader->capacity_bytes - reader->held_bytes < READ_BYTES) make_room(reader);
  ssize_t got = rd_read_some(reader->fd, reader->held + reader->held_bytes, READ_BYTES);
  if (got < 0 && (errno == EAGAIN || errno == EWOULDBLOCK)) return RD_LINES_MORE;
  if (got <= 0) return RD_LINES_END;
  size_t searched = reader->held_bytes;
  reader->held_bytes += (size_t)got;
  return hand_over(reader, searched, function, context, error);
}

// Doubles the buffer, so that a long line is not copied once per piece, and wipes the old one.
static void make_room(struct rd_line_reader *reader) {
  size_t capacity_bytes = 2 * reader->held_bytes + READ_BYTES;
  char *held = rd_memory_new(capacity_bytes, 1);
  if (reader->held != NULL) {
    memcpy(held, reader->held, reader->held_bytes);
    explicit_bzero(reader->held, reader->capacity_bytes);
  }
  free(reader->held);
  reader->held = held;
  reader->capacity_bytes = capacity_bytes;
}

static enum rd_lines_state hand_over(struct rd_line_reader *reader, size_t searched, rd_line_function *function,
                                     void *context, struct rd_error *error) {
  size_t begin = 0;
  char *newline;
  while ((newline = memchr(reader->held + searched, '\n', reader->held_bytes - searched)) != NULL) {
    size_t end = (size_t)(newline - reader->held);
    *newline = '\0';
    if (end - begin <= reader->line_max_bytes && !function(context, reader->held + begin, end - begin))
      return RD_LINES_FAILED;
    if (end - begin > reader->line_max_bytes) break;
    begin = searched = end + 1;
  }
  if (newline != NULL || reader->held_bytes - begin > reader->line_max_bytes) {
    rd_error_set(error, RD_CODE_USAGE, "a line is longer than %zu bytes", reader->line_max_bytes);
    return RD_LINES_FAILED;
  }
  reader->held_bytes -= begin;
  memmove(reader->held, reader->held + begin, reader->held_bytes);
  explicit_bzero(reader->held + reader->held_bytes, begin);
  return RD_LINES_MORE;
}
