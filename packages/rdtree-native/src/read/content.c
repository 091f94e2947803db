// SPDX-License-Identifier: Apache-2.0
#include "read/content.h"

#include "base/digest.h"
#include "base/direct_reader.h"
#include "base/memory.h"
#include "base/pages.h"
#include "entry/metadata.h"
#include "read/holes.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define PARTS_AHEAD 8u
#define PART_BYTES RD_RECORD_DATA_MAX_BYTES

struct part {
  struct rd_read_job job;
  int fd;
  const struct rd_direct_reader *direct; // NULL: all reads go through the cache
  uint64_t offset;
  size_t count, got;           // got: less at the end of a file that was cut
  int number;                  // errno
  unsigned char *bytes;        // in `reserved`, or in `own`
  struct rd_reserved reserved; // if the writer has a ring
  unsigned char *own;          // otherwise; NULL: not needed so far
};

struct rd_read_content {
  struct rd_stream_writer *writer;
  struct rd_threads *threads;
  struct rd_direct_reader *direct; // of the file that is being sent
  struct part parts[PARTS_AHEAD];
  size_t first, pending;   // of the parts that were submitted
  struct rd_extent extent; // the rest of it is not submitted so far
  uint64_t size;
  bool has_holes;
};

static bool send_once(struct rd_read_content *content, struct rd_wanted_file *file, uint64_t from, bool *is_same,
                      struct rd_digest *digest, uint64_t *bytes, struct rd_error *error);
static bool submit_parts(struct rd_read_content *content, int fd, struct rd_error *error);
static bool has_more(struct rd_read_content *content, int fd);
static bool make_room(const struct rd_read_content *content, struct part *part, struct rd_error *error);
static bool send_part(struct rd_read_content *content, struct part *part, struct rd_digest *digest,
                      struct rd_error *error);
static void wait_for_rest(struct rd_read_content *content);
static void read_part(struct rd_read_job *job);
static ssize_t read_once(const struct part *part);
static bool end_whole(struct rd_read_content *content, const struct rd_wanted_file *file, const unsigned char *digest,
                      struct rd_error *error);
static bool end_other(struct rd_read_content *content, const struct rd_wanted_file *file, enum rd_file_state state,
                      struct rd_error *error);

struct rd_read_content *rd_read_content_create(struct rd_stream_writer *writer, struct rd_threads *threads) {
  struct rd_read_content *content = rd_memory_new(1, sizeof *content);
  content->writer = writer;
  content->threads = threads;
  return content;
}

void rd_read_content_destroy(struct rd_read_content *content) {
  if (content == NULL) return;
  for (size_t i = 0; i < PARTS_AHEAD; i++) free(content->parts[i].own);
  free(content);
}

bool rd_read_content_send(struct rd_read_content *content, struct rd_wanted_file *file, uint64_t from, uint64_t *bytes,
                          struct rd_error *error) {
  (void)posix_fadvise(file->fd, 0, 0, POSIX_FADV_SEQUENTIAL);
  for (bool is_last = false;; is_last = true, from = 0) {
    unsigned char value[RD_DIGEST_TREE_BYTES];
    bool is_same;
    struct rd_digest *digest = rd_digest_create(error);
    if (digest == NULL) return false;
    content->direct = rd_direct_reader_open(file->fd);
    bool is_sent = send_once(content, file, from, &is_same, digest, bytes, error);
    rd_direct_reader_close(content->direct);
    rd_digest_value(digest, value);
    rd_digest_destroy(digest);
    if (!is_sent) return false;
    if (is_same) return end_whole(content, file, value, error);
    if (file->number == 0 && is_last) file->reason = "changed while it was read";
    if (rd_wanted_file_has_failed(file)) return rd_read_content_drop(content, file, error);
    if (!end_other(content, file, RD_FILE_AGAIN, error)) return false;
  }
}

bool rd_read_content_drop(struct rd_read_content *content, const struct rd_wanted_file *file, struct rd_error *error) {
  return end_other(content, file, RD_FILE_DROPPED, error);
}

bool rd_read_content_send_whole(struct rd_read_content *content, const struct rd_wanted_file *file,
                                struct rd_error *error) {
  struct rd_record data = {.type = RD_RECORD_DATA, .data = {0, {file->bytes, file->count}}};
  return (file->count == 0 || rd_stream_put(content->writer, &data, error)) &&
         end_whole(content, file, file->digest, error);
}

// *is_same: it did not change, and was read whole; else it changed, or file->number is set.
static bool send_once(struct rd_read_content *content, struct rd_wanted_file *file, uint64_t from, bool *is_same,
                      struct rd_digest *digest, uint64_t *bytes, struct rd_error *error) {
  content->size = file->status.stx_size;
  content->has_holes = rd_has_holes(&file->status);
  content->extent = (struct rd_extent){from, content->has_holes ? from : content->size};
  *is_same = true;
  bool is_good = submit_parts(content, file->fd, error);
  for (; is_good && content->pending > 0; is_good = is_good && submit_parts(content, file->fd, error)) {
    struct part *part = &content->parts[content->first];
    rd_threads_wait(content->threads, &part->job);
    content->first = (content->first + 1) % PARTS_AHEAD;
    content->pending--;
    file->number = part->number;
    *is_same = part->got == part->count;
    if (!*is_same) break;
    *bytes += part->got;
    is_good = send_part(content, part, digest, error);
  }
  wait_for_rest(content);
  rd_stream_cancel(content->writer);
  if (!is_good) return false;
  struct statx after;
  if (file->number != 0) return true;
  if (!rd_status_of_fd(file->fd, &after)) {
    file->number = errno;
    *is_same = false;
    return true;
  }
  *is_same = *is_same && !rd_status_differs(&file->status, &after);
  file->status = after;
  return true;
}

// As many as may be read ahead, and as the ring has room for.
static bool submit_parts(struct rd_read_content *content, int fd, struct rd_error *error) {
  while (content->pending < PARTS_AHEAD && has_more(content, fd)) {
    struct part *part = &content->parts[(content->first + content->pending) % PARTS_AHEAD];
    struct rd_extent *extent = &content->extent;
    uint64_t left = extent->end - extent->begin;
    *part = (struct part){.job.run = read_part,
                          .fd = fd,
                          .direct = content->direct,
                          .offset = extent->begin,
                          .count = left < PART_BYTES ? (size_t)left : PART_BYTES,
                          .own = part->own};
    if (!make_room(content, part, error)) return false;
    if (part->bytes == NULL) return true;
    extent->begin += part->count;
    content->pending++;
    rd_threads_submit(content->threads, &part->job);
  }
  return true;
}

// Returns true if there is data after what was submitted; content->extent then begins with it.
static bool has_more(struct rd_read_content *content, int fd) {
  struct rd_extent *extent = &content->extent;
  if (extent->begin < extent->end) return true;
  return content->has_holes && rd_next_extent(fd, extent->end, content->size, extent);
}

// part->bytes is NULL afterwards if there is no room until parts before it were sent.
static bool make_room(const struct rd_read_content *content, struct part *part, struct rd_error *error) {
  if (!rd_stream_has_ring(content->writer)) {
    if (part->own == NULL) part->own = rd_pages_allocate(PART_BYTES);
    if (part->own == NULL) abort(); // see base/memory.h
    part->bytes = part->own;
    return true;
  }
  bool is_good = rd_stream_reserve(content->writer, part->offset, part->count, &part->reserved, error);
  part->bytes = part->reserved.bytes;
  return is_good;
}

static bool send_part(struct rd_read_content *content, struct part *part, struct rd_digest *digest,
                      struct rd_error *error) {
  struct rd_record record = {.type = RD_RECORD_DATA, .data = {part->offset, {part->bytes, part->count}}};
  rd_digest_update(digest, part->bytes, part->count);
  if (rd_stream_has_ring(content->writer)) {
    rd_stream_commit(content->writer, &part->reserved);
    return true;
  }
  return rd_stream_put(content->writer, &record, error);
}

// Their memory and the descriptor are in use until then. Those that no thread has begun are read in vain.
static void wait_for_rest(struct rd_read_content *content) {
  for (; content->pending > 0; content->pending--) {
    rd_threads_wait(content->threads, &content->parts[content->first].job);
    content->first = (content->first + 1) % PARTS_AHEAD;
  }
}

static void read_part(struct rd_read_job *job) {
  struct part *part = (struct part *)(void *)job; // its first field
  while (part->got < part->count) {
    ssize_t count = read_once(part);
    if (count < 0 && errno == EINTR) continue;
    if (count < 0) part->number = errno;
    if (count <= 0) return;
    part->got += (size_t)count;
  }
}

static ssize_t read_once(const struct part *part) {
  unsigned char *bytes = part->bytes + part->got;
  size_t left = part->count - part->got;
  off_t offset = (off_t)(part->offset + part->got);
  ssize_t count = part->direct != NULL ? rd_direct_reader_read(part->direct, bytes, left, offset) : 0;
  return count > 0 ? count : pread(part->fd, bytes, left, offset);
}

static bool end_whole(struct rd_read_content *content, const struct rd_wanted_file *file, const unsigned char *digest,
                      struct rd_error *error) {
  struct rd_record end = {
      .type = RD_RECORD_FILE_END,
      .file_end = {.state = RD_FILE_WHOLE, .size = file->status.stx_size, .metadata = rd_metadata_of(&file->status)}};
  memcpy(end.file_end.digest, digest, RD_DIGEST_TREE_BYTES);
  return rd_stream_put(content->writer, &end, error);
}

static bool end_other(struct rd_read_content *content, const struct rd_wanted_file *file, enum rd_file_state state,
                      struct rd_error *error) {
  struct rd_record end = {.type = RD_RECORD_FILE_END,
                          .file_end = {.state = state, .metadata = file->record.entry.metadata}};
  return rd_stream_put(content->writer, &end, error);
}
