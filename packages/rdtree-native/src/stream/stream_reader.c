// SPDX-License-Identifier: Apache-2.0
#include "stream/stream_reader.h"

#include "base/bytes.h"
#include "base/io.h"
#include "base/memory.h"

#include <errno.h>
#include <poll.h>
#include <stdlib.h>
#include <string.h>

#define FIRST_ROOM_BYTES (128u << 10)                                 // until the first record that is longer
#define ROOM_BYTES (2 * (RD_RECORD_HEAD_BYTES + RD_RECORD_MAX_BYTES)) // afterwards
#define IN_RING_BYTES (64u << 10)                                     // shorter DATA is copied like other records

struct rd_stream_reader {
  int fd;
  enum rd_stream_phase phase;
  struct rd_stream_writer *output;
  struct rd_ring_reader *ring; // NULL: `fd` has the bytes
  size_t unskipped;            // of the last record, which is used in the ring
  unsigned char *buffer;
  size_t room;
  size_t begin, end; // of what is not yet decoded
  unsigned depth;
  bool has_head, has_place, has_entries, has_ended;
  bool in_file;                 // DATA or FILE_END is to come
  bool has_again;               // for the second time
  uint64_t file_offset;         // the lowest one that DATA may have
  enum rd_record_type attached; // the last record was WANTS, XATTR or BLOCKS, of one that must follow; else 0
  size_t xattr_bytes;           // of that entry
  uint32_t owners[2];           // records of users, of groups
  unsigned width;               // WANTS are of so many targets; 0: there are none
};

static bool take(struct rd_stream_reader *reader, struct rd_record *record, struct rd_error *error);
static bool take_from_ring(struct rd_stream_reader *reader, struct rd_record *record, struct rd_error *error);
static const unsigned char *wait_in_ring(struct rd_stream_reader *reader, size_t count, struct rd_error *error);
static bool fill(struct rd_stream_reader *reader, size_t bytes, struct rd_error *error);
static void grow(struct rd_stream_reader *reader);
static void move_to_begin(struct rd_stream_reader *reader);
static ssize_t read_more(struct rd_stream_reader *reader, size_t most, struct rd_error *error);
static bool check_head(struct rd_stream_reader *reader, const struct rd_record *record, struct rd_error *error);
static bool may_come(struct rd_stream_reader *reader, const struct rd_record *record);
static bool has_decisions(const struct rd_stream_reader *reader);
static bool place_may_come(struct rd_stream_reader *reader);
static bool wants_may_come(struct rd_stream_reader *reader, struct rd_bytes wants);
static bool entry_may_come(struct rd_stream_reader *reader, const struct rd_record *record);
static bool may_be_attached(const struct rd_stream_reader *reader, const struct rd_record *record);
static bool in_file_may_come(struct rd_stream_reader *reader, const struct rd_record *record);

struct rd_stream_reader *rd_stream_reader_create(int fd, enum rd_stream_phase phase, struct rd_stream_writer *output) {
  struct rd_stream_reader *reader = rd_memory_new(1, sizeof *reader);
  reader->fd = fd;
  reader->phase = phase;
  reader->output = output;
  reader->room = FIRST_ROOM_BYTES;
  reader->buffer = rd_memory_new(reader->room, 1);
  return reader;
}

void rd_stream_reader_destroy(struct rd_stream_reader *reader) {
  if (reader == NULL) return;
  free(reader->buffer);
  free(reader);
}

void rd_stream_read_from(struct rd_stream_reader *reader, struct rd_ring_reader *ring) {
  reader->ring = ring;
}

struct rd_ring_hold *rd_stream_hold(struct rd_stream_reader *reader) {
  struct rd_ring_hold *hold = reader->unskipped > 0 ? rd_ring_reader_hold(reader->ring, reader->unskipped) : NULL;
  if (hold != NULL) reader->unskipped = 0;
  return hold;
}

void rd_stream_expect_wants(struct rd_stream_reader *reader, unsigned width) {
  reader->width = width;
}

bool rd_stream_next(struct rd_stream_reader *reader, struct rd_record *record, struct rd_error *error) {
  if (!reader->has_head && (!take(reader, record, error) || !check_head(reader, record, error))) return false;
  if (!take(reader, record, error)) return false;
  bool is_padded = record->type == RD_RECORD_PAD;
  if (is_padded && !take(reader, record, error)) return false;
  if ((!is_padded || record->type == RD_RECORD_DATA) && may_come(reader, record)) return true;
  rd_error_set(error, RD_CODE_DATA_DAMAGED,
               "the stream of the tree is damaged: a record of type %d is out of place, or one too many",
               (int)record->type);
  return false;
}

bool rd_stream_is_ready(const struct rd_stream_reader *reader) {
  struct rd_error error;
  size_t payload, bytes = reader->end - reader->begin;
  if (!reader->has_head || bytes < RD_RECORD_HEAD_BYTES) return false;
  return !rd_record_payload_bytes(reader->buffer + reader->begin, &payload, &error) ||
         bytes - RD_RECORD_HEAD_BYTES >= payload;
}

bool rd_stream_has_begun(const struct rd_stream_reader *reader) {
  return reader->has_head;
}

bool rd_stream_finish(struct rd_stream_reader *reader, struct rd_error *error) {
  const unsigned char *more;
  size_t left = reader->end - reader->begin;
  if (left == 0) reader->begin = reader->end = 0;
  ssize_t count = reader->ring != NULL ? rd_ring_reader_wait(reader->ring, 1, &more, error)
                  : left > 0           ? (ssize_t)left
                                       : read_more(reader, reader->room, error);
  if (count > 0)
    rd_error_set(error, RD_CODE_DATA_DAMAGED, "the stream of the tree is damaged: there are bytes after its end");
  return count == 0;
}

unsigned rd_stream_depth(const struct rd_stream_reader *reader) {
  return reader->depth;
}

static bool take(struct rd_stream_reader *reader, struct rd_record *record, struct rd_error *error) {
  size_t payload;
  if (reader->ring != NULL) return take_from_ring(reader, record, error);
  if (!fill(reader, RD_RECORD_HEAD_BYTES, error)) return false;
  if (!rd_record_payload_bytes(reader->buffer + reader->begin, &payload, error)) return false;
  size_t bytes = RD_RECORD_HEAD_BYTES + payload;
  if (!fill(reader, bytes, error)) return false;
  const unsigned char *encoded = reader->buffer + reader->begin;
  reader->begin += bytes;
  return rd_record_decode(encoded, bytes, record, error);
}

// The bytes of large DATA stay in the ring. Everything else is copied before it is checked.
static bool take_from_ring(struct rd_stream_reader *reader, struct rd_record *record, struct rd_error *error) {
  unsigned char head[RD_RECORD_DATA_HEAD_BYTES];
  size_t payload;
  if (reader->unskipped > 0) rd_ring_reader_skip(reader->ring, reader->unskipped);
  reader->unskipped = 0;
  const unsigned char *encoded = wait_in_ring(reader, RD_RECORD_HEAD_BYTES, error);
  if (encoded == NULL) return false;
  memcpy(head, encoded, RD_RECORD_HEAD_BYTES);
  if (!rd_record_payload_bytes(head, &payload, error)) return false;
  size_t bytes = RD_RECORD_HEAD_BYTES + payload;
  if ((encoded = wait_in_ring(reader, bytes, error)) == NULL) return false;
  if (rd_get_u32(head + 4) == RD_RECORD_DATA && payload >= IN_RING_BYTES) {
    memcpy(head, encoded, sizeof head);
    reader->unskipped = bytes;
    return rd_record_decode_data(head, encoded + sizeof head, bytes - sizeof head, record, error);
  }
  if (reader->room < bytes) grow(reader);
  memcpy(reader->buffer, encoded, bytes);
  rd_ring_reader_skip(reader->ring, bytes);
  return rd_record_decode(reader->buffer, bytes, record, error);
}

static const unsigned char *wait_in_ring(struct rd_stream_reader *reader, size_t count, struct rd_error *error) {
  const unsigned char *bytes = NULL;
  ssize_t here = rd_ring_reader_wait(reader->ring, count, &bytes, error);
  if (here == (ssize_t)count) return bytes;
  if (here >= 0) rd_error_set(error, RD_CODE_PEER_LOST, "the stream of the tree was cut off");
  return NULL;
}

// Reads until there are `bytes` of them.
static bool fill(struct rd_stream_reader *reader, size_t bytes, struct rd_error *error) {
  if (reader->room < bytes) grow(reader);
  if (reader->begin == reader->end || reader->room - reader->begin < bytes) move_to_begin(reader);
  while (reader->end - reader->begin < bytes) {
    ssize_t got = read_more(reader, reader->room - reader->end, error);
    if (got == 0) rd_error_set(error, RD_CODE_PEER_LOST, "the stream of the tree was cut off");
    if (got <= 0) return false;
    reader->end += (size_t)got;
  }
  return true;
}

static void grow(struct rd_stream_reader *reader) {
  reader->buffer = rd_memory_resize(reader->buffer, ROOM_BYTES, 1);
  reader->room = ROOM_BYTES;
}

static void move_to_begin(struct rd_stream_reader *reader) {
  memmove(reader->buffer, reader->buffer + reader->begin, reader->end - reader->begin);
  reader->end -= reader->begin;
  reader->begin = 0;
}

// Appends at most `most` bytes; flushes the output before. Returns their number, 0 at the end of the input, or -1.
static ssize_t read_more(struct rd_stream_reader *reader, size_t most, struct rd_error *error) {
  if (reader->output != NULL && !rd_stream_flush(reader->output, error)) return -1;
  for (;;) {
    ssize_t count = rd_read_some(reader->fd, reader->buffer + reader->end, most);
    if (count >= 0) return count;
    if (errno == EAGAIN && rd_wait_fd(reader->fd, POLLIN, -1) > 0) continue;
    rd_error_set_errno(error, RD_CODE_SOURCE_UNREADABLE, "cannot read from the program before this one of the copy");
    return -1;
  }
}

static bool check_head(struct rd_stream_reader *reader, const struct rd_record *record, struct rd_error *error) {
  reader->has_head = record->type == RD_RECORD_HEAD;
  if (reader->has_head && record->head.version == RD_TREE_VERSION && record->head.phase == reader->phase) return true;
  rd_error_set(error, RD_CODE_DATA_DAMAGED, "the stream of the tree does not have the expected version or phase");
  return false;
}

static bool may_come(struct rd_stream_reader *reader, const struct rd_record *record) {
  if (reader->has_ended) return false;
  if (reader->in_file) return in_file_may_come(reader, record);
  if (reader->attached != 0 && !may_be_attached(reader, record)) return false;
  bool results = reader->phase == RD_STREAM_RESULTS;
  switch (record->type) {
  case RD_RECORD_OWNER:
    return !results && reader->owners[record->owner.is_group]++ < RD_OWNERS_MAX;
  case RD_RECORD_FAILED:
    return !results;
  case RD_RECORD_PLACE:
    return place_may_come(reader);
  case RD_RECORD_XATTR:
    reader->attached = reader->attached == RD_RECORD_BLOCKS ? RD_RECORD_BLOCKS : RD_RECORD_XATTR;
    reader->xattr_bytes += rd_xattr_bytes(&record->xattr);
    return !results && reader->xattr_bytes <= RD_XATTRS_MAX_BYTES;
  case RD_RECORD_BLOCKS:
    if (reader->attached == RD_RECORD_BLOCKS) return false;
    reader->attached = RD_RECORD_BLOCKS;
    return has_decisions(reader);
  case RD_RECORD_REMOVE:
    reader->attached = 0;
    return has_decisions(reader);
  case RD_RECORD_SKIP:
    return reader->phase == RD_STREAM_SHARE;
  case RD_RECORD_WANTS:
    return wants_may_come(reader, record->wants);
  case RD_RECORD_LEAVE:
    if (reader->depth == 0) return false;
    reader->depth--;
    return true;
  case RD_RECORD_DONE:
    return results;
  case RD_RECORD_END:
    reader->has_ended = true;
    return reader->depth == 0;
  default:
    return rd_record_is_entry(record->type) && !results && entry_may_come(reader, record);
  }
}

static bool has_decisions(const struct rd_stream_reader *reader) {
  return reader->phase != RD_STREAM_ENTRIES && reader->phase != RD_STREAM_RESULTS;
}

// Once; but of several targets each may have its own.
static bool place_may_come(struct rd_stream_reader *reader) {
  bool is_of_some = reader->attached == RD_RECORD_WANTS;
  if ((reader->has_place && !is_of_some) || reader->has_entries) return false;
  reader->has_place = true;
  reader->attached = 0;
  return has_decisions(reader);
}

static bool wants_may_come(struct rd_stream_reader *reader, struct rd_bytes wants) {
  reader->attached = RD_RECORD_WANTS;
  return reader->width > 0 && wants.count == reader->width;
}

static bool entry_may_come(struct rd_stream_reader *reader, const struct rd_record *record) {
  const struct rd_entry *entry = &record->entry;
  bool has_blocks = reader->attached == RD_RECORD_BLOCKS;
  reader->attached = 0;
  reader->xattr_bytes = 0;
  reader->has_entries = true;
  if (reader->phase == RD_STREAM_ENTRIES && entry->want != RD_WANT_ALL) return false;
  if (reader->depth > 0 && entry->source != 0) return false;
  if (has_blocks != (entry->want == RD_WANT_RESUME)) return false;
  if (record->type == RD_RECORD_ENTER) {
    if ((entry->name.count == 0 && reader->depth > 0) || reader->depth == RD_DEPTH_MAX) return false;
    reader->depth++;
    return true;
  }
  if (entry->want == RD_WANT_NOTHING) return false;
  if (record->type != RD_RECORD_FILE) return true;
  reader->in_file =
      reader->phase == RD_STREAM_CONTENTS && (entry->want == RD_WANT_ALL || entry->want == RD_WANT_RESUME);
  reader->has_again = false;
  reader->file_offset = 0;
  return true;
}

// After XATTR or BLOCKS nothing may come but more of them, and the entry that they are of; after WANTS these, too.
static bool may_be_attached(const struct rd_stream_reader *reader, const struct rd_record *record) {
  if (reader->attached == RD_RECORD_WANTS) {
    bool is_alone = record->type == RD_RECORD_PLACE || record->type == RD_RECORD_REMOVE;
    return is_alone || record->type == RD_RECORD_XATTR || record->type == RD_RECORD_BLOCKS ||
           rd_record_is_entry(record->type);
  }
  if (record->type == RD_RECORD_XATTR || record->type == RD_RECORD_BLOCKS || record->type == RD_RECORD_FILE)
    return true;
  return reader->attached == RD_RECORD_XATTR && rd_record_is_entry(record->type) && record->type != RD_RECORD_LINK;
}

static bool in_file_may_come(struct rd_stream_reader *reader, const struct rd_record *record) {
  if (record->type == RD_RECORD_FILE_END) {
    reader->in_file = record->file_end.state == RD_FILE_AGAIN;
    if (reader->in_file && reader->has_again) return false;
    reader->has_again = reader->in_file;
    bool is_whole = record->file_end.state == RD_FILE_WHOLE;
    bool fits = !is_whole || record->file_end.size >= reader->file_offset;
    reader->file_offset = 0;
    return fits;
  }
  if (record->type != RD_RECORD_DATA || record->data.offset < reader->file_offset) return false;
  reader->file_offset = record->data.offset + record->data.bytes.count;
  return true;
}
