// SPDX-License-Identifier: Apache-2.0
// Reads the available bytes of a descriptor and splits them into lines of a limited length.
#include "base/byte_queue.h"
#include "base/io.h"
#include "base/memory.h"
#include "runtime/lines.h"

#include <errno.h>
#include <stdlib.h>

#define READ_BYTES 65536u

struct rd_line_reader {
  int fd;
  size_t line_max_bytes;
  struct rd_byte_queue held; // secret, because keys pass through it
};

static enum rd_lines_state hand_over(struct rd_line_reader *reader, rd_line_function *function, void *context,
                                     struct rd_error *error);

struct rd_line_reader *rd_line_reader_create(int fd, size_t line_max_bytes) {
  struct rd_line_reader *reader = rd_memory_new(1, sizeof *reader);
  *reader = (struct rd_line_reader){.fd = fd, .line_max_bytes = line_max_bytes, .held.is_secret = true};
  return reader;
}

void rd_line_reader_destroy(struct rd_line_reader *reader) {
  if (reader == NULL) return;
  rd_byte_queue_clear(&reader->held);
  free(reader);
}

enum rd_lines_state rd_line_reader_take(struct rd_line_reader *reader, rd_line_function *function, void *context,
                                        struct rd_error *error) {
  ssize_t got = rd_read_some(reader->fd, rd_byte_queue_reserve(&reader->held, READ_BYTES), READ_BYTES);
  if (got < 0 && (errno == EAGAIN || errno == EWOULDBLOCK)) return RD_LINES_MORE;
  if (got <= 0) return RD_LINES_END;
  rd_byte_queue_fill(&reader->held, (size_t)got);
  return hand_over(reader, function, context, error);
}

static enum rd_lines_state hand_over(struct rd_line_reader *reader, rd_line_function *function, void *context,
                                     struct rd_error *error) {
  const char *line;
  size_t bytes;
  while ((line = rd_byte_queue_line(&reader->held, &bytes)) != NULL && bytes <= reader->line_max_bytes) {
    if (!function(context, line, bytes)) return RD_LINES_FAILED;
    rd_byte_queue_take(&reader->held, bytes + 1);
  }
  if (line == NULL && rd_byte_queue_count(&reader->held) <= reader->line_max_bytes) return RD_LINES_MORE;
  rd_error_set(error, RD_CODE_USAGE, "a line is longer than %zu bytes", reader->line_max_bytes);
  return RD_LINES_FAILED;
}
