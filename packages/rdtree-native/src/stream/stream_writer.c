// SPDX-License-Identifier: Apache-2.0
#include "stream/stream_writer.h"

#include "base/bytes.h"
#include "base/io.h"
#include "base/memory.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#define BUFFER_BYTES (256u << 10)
#define DATA_UNCOPIED_BYTES (64u << 10) // for fewer one system call more costs as much as a copy

struct rd_stream_writer {
  int fd;
  struct rd_ring_writer *ring; // NULL: the bytes go to `fd`
  size_t filled, room;
  unsigned char *buffer;
  uint64_t skipped; // records for a SKIP that is due
};

static bool put_skip(struct rd_stream_writer *writer, struct rd_error *error);
static bool put_data(struct rd_stream_writer *writer, const struct rd_record *record, struct rd_error *error);
static bool put_data_head(struct rd_stream_writer *writer, const struct rd_record *record, struct rd_error *error);
static size_t encode_data_head(unsigned char *out, uint64_t offset, size_t count);
static size_t pad_before(uint64_t end, size_t count);
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

void rd_stream_write_to(struct rd_stream_writer *writer, struct rd_ring_writer *ring) {
  writer->ring = ring;
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

bool rd_stream_has_ring(const struct rd_stream_writer *writer) {
  return writer->ring != NULL;
}

bool rd_stream_reserve(struct rd_stream_writer *writer, uint64_t offset, size_t count, struct rd_reserved *reserved,
                       struct rd_error *error) {
  if (!rd_stream_flush(writer, error)) return false;
  size_t pad = pad_before(rd_ring_writer_end(writer->ring), count);
  reserved->count = pad + RD_RECORD_DATA_HEAD_BYTES + count;
  reserved->bytes = rd_ring_writer_reserve(writer->ring, reserved->count, error);
  if (reserved->bytes == NULL) return error->code == RD_CODE_OK;
  if (pad > 0) {
    memset(reserved->bytes, 0, pad);
    rd_put_u32(reserved->bytes, (uint32_t)(pad - RD_RECORD_HEAD_BYTES));
    rd_put_u32(reserved->bytes + 4, RD_RECORD_PAD);
  }
  reserved->bytes += pad;
  reserved->bytes += encode_data_head(reserved->bytes, offset, count);
  return true;
}

void rd_stream_commit(struct rd_stream_writer *writer, const struct rd_reserved *reserved) {
  rd_ring_writer_fill(writer->ring, reserved->count);
}

void rd_stream_cancel(struct rd_stream_writer *writer) {
  if (writer->ring != NULL) rd_ring_writer_cancel(writer->ring);
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
  size_t room = writer->room - writer->filled;
  if (RD_RECORD_DATA_HEAD_BYTES > room && !rd_stream_flush(writer, error)) return false;
  writer->filled += encode_data_head(writer->buffer + writer->filled, record->data.offset, record->data.bytes.count);
  return rd_stream_flush(writer, error);
}

static size_t encode_data_head(unsigned char *out, uint64_t offset, size_t count) {
  rd_put_u32(out, (uint32_t)(RD_RECORD_DATA_HEAD_BYTES - RD_RECORD_HEAD_BYTES + count));
  rd_put_u32(out + 4, RD_RECORD_DATA);
  rd_put_u64(out + RD_RECORD_HEAD_BYTES, offset);
  return RD_RECORD_DATA_HEAD_BYTES;
}

// Returns the length of a PAD record at stream offset `end`, after which the `count` bytes of DATA are aligned; 0: they
// are aligned, or too few to be worth it.
static size_t pad_before(uint64_t end, size_t count) {
  size_t over = (size_t)((end + RD_RECORD_DATA_HEAD_BYTES) % RD_RECORD_ALIGN_BYTES);
  if (over == 0 || count < DATA_UNCOPIED_BYTES) return 0;
  size_t pad = RD_RECORD_ALIGN_BYTES - over;
  return pad < RD_RECORD_HEAD_BYTES ? pad + RD_RECORD_ALIGN_BYTES : pad;
}

static bool write_out(struct rd_stream_writer *writer, const unsigned char *bytes, size_t count,
                      struct rd_error *error) {
  if (writer->ring != NULL) return rd_ring_writer_put(writer->ring, bytes, count, error);
  if (rd_write_all(writer->fd, bytes, count)) return true;
  if (errno == EPIPE)
    rd_error_set(error, RD_CODE_CLOSED, "the next program of the copy is gone");
  else
    rd_error_set_errno(error, RD_CODE_SINK_UNWRITABLE, "cannot write to the next program of the copy");
  return false;
}
