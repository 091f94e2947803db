// SPDX-License-Identifier: Apache-2.0
// Queues lines and writes as many bytes as possible without blocking.
#include "base/byte_queue.h"
#include "base/io.h"
#include "base/memory.h"
#include "runtime/lines.h"

#include <errno.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>

struct rd_line_writer {
  int fd;
  bool is_socket, in_line;    // the queue begins within a line
  struct rd_byte_queue queue; // secret, because lines may contain keys
};

static size_t first_line_at(const struct rd_line_writer *writer);
static ssize_t write_some(const struct rd_line_writer *writer, const unsigned char *bytes, size_t count);

struct rd_line_writer *rd_line_writer_create(int fd) {
  struct rd_line_writer *writer = rd_memory_new(1, sizeof *writer);
  struct stat status;
  bool is_socket = !fstat(fd, &status) && S_ISSOCK(status.st_mode);
  *writer = (struct rd_line_writer){.fd = fd, .is_socket = is_socket, .queue.is_secret = true};
  return writer;
}

void rd_line_writer_destroy(struct rd_line_writer *writer) {
  if (writer == NULL) return;
  rd_byte_queue_clear(&writer->queue);
  free(writer);
}

void rd_line_writer_add(struct rd_line_writer *writer, const char *line, size_t bytes) {
  rd_byte_queue_append(&writer->queue, line, bytes);
  rd_byte_queue_append(&writer->queue, "\n", 1);
}

bool rd_line_writer_first_is(const struct rd_line_writer *writer, const char *line) {
  size_t at = first_line_at(writer), bytes = strlen(line);
  if (rd_byte_queue_count(&writer->queue) - at <= bytes) return false;
  const unsigned char *first = rd_byte_queue_first(&writer->queue) + at;
  return memcmp(first, line, bytes) == 0 && first[bytes] == '\n';
}

void rd_line_writer_add_first(struct rd_line_writer *writer, const char *line, size_t bytes) {
  size_t at = first_line_at(writer);
  rd_byte_queue_insert(&writer->queue, at, line, bytes);
  rd_byte_queue_insert(&writer->queue, at + bytes, "\n", 1);
}

size_t rd_line_writer_queued_bytes(const struct rd_line_writer *writer) {
  return rd_byte_queue_count(&writer->queue);
}

bool rd_line_writer_flush(struct rd_line_writer *writer) {
  size_t waiting;
  while ((waiting = rd_byte_queue_count(&writer->queue)) > 0) {
    const unsigned char *first = rd_byte_queue_first(&writer->queue);
    ssize_t wrote = write_some(writer, first, waiting);
    if (wrote < 0) return errno == EAGAIN || errno == EWOULDBLOCK;
    if (wrote > 0) writer->in_line = first[wrote - 1] != '\n';
    rd_byte_queue_take(&writer->queue, (size_t)wrote);
    if (!writer->is_socket) return true; // only the next poll() shows whether the pipe can take more
  }
  return true;
}

// Returns the number of queued bytes of a line that was written in part.
static size_t first_line_at(const struct rd_line_writer *writer) {
  if (!writer->in_line) return 0;
  const unsigned char *first = rd_byte_queue_first(&writer->queue);
  const unsigned char *newline = memchr(first, '\n', rd_byte_queue_count(&writer->queue));
  return (size_t)(newline - first) + 1;
}

// An inherited pipe stays blocking; if poll() reports it as writable, it takes PIPE_BUF bytes without waiting.
static ssize_t write_some(const struct rd_line_writer *writer, const unsigned char *bytes, size_t count) {
  if (!writer->is_socket) return rd_write_some(writer->fd, bytes, count < PIPE_BUF ? count : PIPE_BUF);
  ssize_t sent;
  do sent = send(writer->fd, bytes, count, MSG_DONTWAIT | MSG_NOSIGNAL);
  while (sent < 0 && errno == EINTR);
  return sent;
}
