// SPDX-License-Identifier: Apache-2.0
#include "stream/stream_writer.h"

#include "base/bytes.h"
#include "base/io.h"
#include "base/memory.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/uio.h>

#define BUFFER_BYTES (256u << 10)
#define DATA_UNCOPIED_BYTES (64u << 10) // for fewer one system call more costs as much as a copy

struct rd_stream_writer {
  int fd;
  uint64_t written; // to the descriptor
  size_t filled, room;
  unsigned char *buffer;
  uint64_t skipped; // records for a SKIP that is due
};

static bool put_skip(struct rd_stream_writer *writer, struct rd_error *error);
static bool put_data(struct rd_stream_writer *writer, const struct rd_record *record, struct rd_error *error);
static bool put_data_head(struct rd_stream_writer *writer, const struct rd_record *record, struct rd_error *error);
static bool lend(struct rd_stream_writer *writer, struct rd_bytes bytes, struct rd_error *error);
static bool write_out(struct rd_stream_writer *writer, const unsigned char *bytes, size_t count,
                      struct rd_error *error);

struct rd_stream_writer *rd_stream_writer_create(int fd, enum rd_stream_phase phase) {
  struct rd_stream_writer *writer = rd_memory_new(1, sizeof *writer);
  writer->fd = fd;
  writer->room = BUFFER_BYTES;
  writer->buffer = rd_memory_new(writer->room, 1);
  struct rd_record head = {.type = RD_RECORD_HEAD, .head = {RD_TREE_VERSION, phase}};
  writer->filled = rd_record_encode(&head, writer->buffer);
  return writer;
}

void rd_stream_writer_destroy(struct rd_stream_writer *writer) {
  if (writer == NULL) return;
  free(writer->buffer);
  free(writer);
}

void rd_stream_skip(struct rd_stream_writer *writer) {
  writer->skipped++;
}

bool rd_stream_put(struct rd_stream_writer *writer, const struct rd_record *record, struct rd_error *error) {
  if (!put_skip(writer, error)) return false;
  if (record->type == RD_RECORD_DATA && record->data.bytes.count >= DATA_UNCOPIED_BYTES)
    return put_data(writer, record, error);
  size_t bound = rd_record_bound(record);
  if (bound > writer->room - writer->filled && !rd_stream_flush(writer, error)) return false;
  if (bound > writer->room) {
    writer->room = bound;
    writer->buffer = rd_memory_resize(writer->buffer, writer->room, 1);
  }
  writer->filled += rd_record_encode(record, writer->buffer + writer->filled);
  return true;
}

bool rd_stream_put_encoded(struct rd_stream_writer *writer, const unsigned char *encoded, size_t count,
                           struct rd_error *error) {
  if (count > writer->room - writer->filled && !rd_stream_flush(writer, error)) return false;
  if (count > writer->room) return write_out(writer, encoded, count, error);
  if (count > 0) memcpy(writer->buffer + writer->filled, encoded, count);
  writer->filled += count;
  return true;
}

bool rd_stream_flush(struct rd_stream_writer *writer, struct rd_error *error) {
  if (!put_skip(writer, error)) return false;
  size_t filled = writer->filled;
  writer->filled = 0;
  return write_out(writer, writer->buffer, filled, error);
}

bool rd_stream_lend(struct rd_stream_writer *writer, const struct rd_record *record, uint64_t *until,
                    struct rd_error *error) {
  *until = 0;
  if (record->data.bytes.count < DATA_UNCOPIED_BYTES) return rd_stream_put(writer, record, error);
  if (!put_skip(writer, error) || !put_data_head(writer, record, error) || !lend(writer, record->data.bytes, error))
    return false;
  *until = writer->written;
  return true;
}

uint64_t rd_stream_taken(const struct rd_stream_writer *writer) {
  int waiting;
  return ioctl(writer->fd, FIONREAD, &waiting) == 0 ? writer->written - (uint64_t)waiting : writer->written;
}

static bool put_skip(struct rd_stream_writer *writer, struct rd_error *error) {
  struct rd_record skip = {.type = RD_RECORD_SKIP, .skip = writer->skipped};
  if (writer->skipped == 0) return true;
  writer->skipped = 0; // before the flush that a full buffer needs
  return rd_stream_put(writer, &skip, error);
}

// Without a copy of its bytes in the buffer.
static bool put_data(struct rd_stream_writer *writer, const struct rd_record *record, struct rd_error *error) {
  return put_data_head(writer, record, error) &&
         write_out(writer, record->data.bytes.at, record->data.bytes.count, error);
}

static bool put_data_head(struct rd_stream_writer *writer, const struct rd_record *record, struct rd_error *error) {
  size_t head_bytes = RD_RECORD_HEAD_BYTES + sizeof(uint64_t);
  if (head_bytes > writer->room - writer->filled && !rd_stream_flush(writer, error)) return false;
  unsigned char *head = writer->buffer + writer->filled;
  rd_put_u32(head, (uint32_t)(sizeof(uint64_t) + record->data.bytes.count));
  rd_put_u32(head + 4, RD_RECORD_DATA);
  rd_put_u64(head + RD_RECORD_HEAD_BYTES, record->data.offset);
  writer->filled += head_bytes;
  return rd_stream_flush(writer, error);
}

// A pipe refers to the pages until its reader has copied them.
static bool lend(struct rd_stream_writer *writer, struct rd_bytes bytes, struct rd_error *error) {
  while (bytes.count > 0) {
    struct iovec pages = {(void *)(uintptr_t)bytes.at, bytes.count};
    ssize_t lent = vmsplice(writer->fd, &pages, 1, 0);
    if (lent < 0 && errno == EINTR) continue;
    if (lent < 0 && errno == EAGAIN && rd_wait_fd(writer->fd, POLLOUT, -1) > 0) continue;
    if (lent < 0) return write_out(writer, bytes.at, bytes.count, error); // not a pipe, or it has no reader
    writer->written += (uint64_t)lent;
    bytes.at += lent;
    bytes.count -= (size_t)lent;
  }
  return true;
}

static bool write_out(struct rd_stream_writer *writer, const unsigned char *bytes, size_t count,
                      struct rd_error *error) {
  if (rd_write_all(writer->fd, bytes, count)) {
    writer->written += count;
    return true;
  }
  if (errno == EPIPE)
    rd_error_set(error, RD_CODE_CLOSED, "the next program of the copy is gone");
  else
    rd_error_set_errno(error, RD_CODE_SINK_UNWRITABLE, "cannot write to the next program of the copy");
  return false;
}
