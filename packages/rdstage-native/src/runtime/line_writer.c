// SPDX-License-Identifier: Apache-2.0
// Queues lines and writes as many bytes as possible without blocking.
#include "base/io.h"
#include "base/memory.h"
#include "runtime/lines.h"

#include <errno.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>

struct queued_line {
  struct queued_line *next;
  size_t bytes; // with the newline
  char text[];
};

struct rd_line_writer {
  int fd;
  bool is_socket;
  struct queued_line *first, *last;
  size_t written_bytes; // of the first line
  size_t queued_bytes;
};

static struct queued_line *make_line(struct rd_line_writer *writer, const char *line, size_t bytes);
static ssize_t write_some(const struct rd_line_writer *writer, const char *bytes, size_t count);
static void drop_first(struct rd_line_writer *writer);

struct rd_line_writer *rd_line_writer_create(int fd) {
  struct rd_line_writer *writer = rd_memory_new(1, sizeof *writer);
  struct stat status;
  writer->fd = fd;
  writer->is_socket = !fstat(fd, &status) && S_ISSOCK(status.st_mode);
  return writer;
}

void rd_line_writer_destroy(struct rd_line_writer *writer) {
  if (writer == NULL) return;
  while (writer->first != NULL) drop_first(writer);
  free(writer);
}

void rd_line_writer_add(struct rd_line_writer *writer, const char *line, size_t bytes) {
  struct queued_line *added = make_line(writer, line, bytes);
  if (writer->last != NULL)
    writer->last->next = added;
  else
    writer->first = added;
  writer->last = added;
}

bool rd_line_writer_first_is(const struct rd_line_writer *writer, const char *line) {
  const struct queued_line *first = writer->first;
  if (first != NULL && writer->written_bytes) first = first->next;
  return first != NULL && first->bytes == strlen(line) + 1 && memcmp(first->text, line, first->bytes - 1) == 0;
}

void rd_line_writer_add_first(struct rd_line_writer *writer, const char *line, size_t bytes) {
  if (writer->first == NULL || (writer->written_bytes && writer->first->next == NULL)) {
    rd_line_writer_add(writer, line, bytes);
    return;
  }
  struct queued_line **place = writer->written_bytes ? &writer->first->next : &writer->first;
  struct queued_line *added = make_line(writer, line, bytes);
  added->next = *place;
  *place = added;
}

size_t rd_line_writer_queued_bytes(const struct rd_line_writer *writer) {
  return writer->queued_bytes;
}

bool rd_line_writer_flush(struct rd_line_writer *writer) {
  while (writer->first != NULL) {
    struct queued_line *line = writer->first;
    size_t left = line->bytes - writer->written_bytes;
    ssize_t wrote = write_some(writer, line->text + writer->written_bytes, left);
    if (wrote < 0) return errno == EAGAIN || errno == EWOULDBLOCK;
    writer->written_bytes += (size_t)wrote;
    writer->queued_bytes -= (size_t)wrote;
    if (writer->written_bytes == line->bytes) drop_first(writer);
    if (!writer->is_socket) return true; // only the next poll() shows whether the pipe can take more
  }
  return true;
}

static struct queued_line *make_line(struct rd_line_writer *writer, const char *line, size_t bytes) {
  struct queued_line *added = rd_memory_new(1, sizeof *added + bytes + 1);
  memcpy(added->text, line, bytes);
  added->text[bytes] = '\n';
  added->bytes = bytes + 1;
  writer->queued_bytes += added->bytes;
  return added;
}

// An inherited pipe stays blocking; if poll() reports it as writable, it takes PIPE_BUF bytes without waiting.
static ssize_t write_some(const struct rd_line_writer *writer, const char *bytes, size_t count) {
  if (!writer->is_socket) return rd_write_some(writer->fd, bytes, count < PIPE_BUF ? count : PIPE_BUF);
  ssize_t sent;
  do sent = send(writer->fd, bytes, count, MSG_DONTWAIT | MSG_NOSIGNAL);
  while (sent < 0 && errno == EINTR);
  return sent;
}

static void drop_first(struct rd_line_writer *writer) {
  struct queued_line *line = writer->first;
  writer->first = line->next;
  if (writer->first == NULL) writer->last = NULL;
  writer->queued_bytes -= line->bytes > writer->written_bytes ? line->bytes - writer->written_bytes : 0;
  writer->written_bytes = 0;
  explicit_bzero(line->text, line->bytes); // lines may contain keys
  free(line);
}
