// SPDX-License-Identifier: Apache-2.0
#include "read/content.h"

#include "base/digest.h"
#include "base/direct_reader.h"
#include "base/memory.h"
#include "entry/metadata.h"
#include "read/holes.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#define PARTS_AHEAD 8u
#define PARTS (PARTS_AHEAD + 2u) // a pipe has the pages of the last ones
#define PART_BYTES RD_RECORD_DATA_MAX_BYTES

struct part {
  struct rd_read_job job;
  int fd;
  const struct rd_direct_reader *direct; // NULL: all reads go through the cache
  uint64_t offset;
  size_t count, got; // got: less at the end of a file that was cut
  int number;        // errno
  unsigned char *bytes;
  uint64_t lent_until; // see rd_stream_lend(); 0: never lent
};

struct rd_read_content {
  struct rd_stream_writer *writer;
  struct rd_threads *threads;
  struct rd_direct_reader *direct; // of the file that is being sent
  struct part parts[PARTS];
  size_t first, pending;   // of the parts that were submitted
  struct rd_extent extent; // the rest of it is not submitted so far
  uint64_t size;
  bool has_holes;
};

static bool send_once(struct rd_read_content *content, struct rd_wanted_file *file, uint64_t from, bool *is_same,
                      struct rd_digest *digest, uint64_t *bytes, struct rd_error *error);
static void submit_parts(struct rd_read_content *content, int fd);
static bool next_part(struct rd_read_content *content, int fd, struct part *part);
static void make_room(const struct rd_read_content *content, struct part *part);
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
  for (size_t i = 0; i < PARTS; i++)
    if (content->parts[i].bytes != NULL) munmap(content->parts[i].bytes, PART_BYTES);
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
  for (submit_parts(content, file->fd); content->pending > 0; submit_parts(content, file->fd)) {
    struct part *part = &content->parts[content->first];
    rd_threads_wait(content->threads, &part->job);
    content->first = (content->first + 1) % PARTS;
    content->pending--;
    file->number = part->number;
    *is_same = part->got == part->count;
    if (!*is_same) break;
    *bytes += part->got;
    if (send_part(content, part, digest, error)) continue;
    wait_for_rest(content);
    return false;
  }
  wait_for_rest(content);
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

static void submit_parts(struct rd_read_content *content, int fd) {
  while (content->pending < PARTS_AHEAD) {
    struct part *part = &content->parts[(content->first + content->pending) % PARTS];
    if (!next_part(content, fd, part)) return;
    content->pending++;
    rd_threads_submit(content->threads, &part->job);
  }
}

static bool next_part(struct rd_read_content *content, int fd, struct part *part) {
  struct rd_extent *extent = &content->extent;
  if (extent->begin >= extent->end && (!content->has_holes || !rd_next_extent(fd, extent->end, content->size, extent)))
    return false;
  uint64_t left = extent->end - extent->begin;
  make_room(content, part);
  *part = (struct part){.job.run = read_part,
                        .fd = fd,
                        .direct = content->direct,
                        .offset = extent->begin,
                        .count = left < PART_BYTES ? (size_t)left : PART_BYTES,
                        .bytes = part->bytes,
                        .lent_until = part->lent_until};
  extent->begin += part->count;
  return true;
}

// Bytes that are still in the pipe stay there if their memory is unmapped.
static void make_room(const struct rd_read_content *content, struct part *part) {
  bool is_lent = part->lent_until > 0 && rd_stream_taken(content->writer) < part->lent_until;
  if (part->bytes != NULL && !is_lent) return;
  if (part->bytes != NULL) munmap(part->bytes, PART_BYTES);
  part->bytes = mmap(NULL, PART_BYTES, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (part->bytes == MAP_FAILED) abort(); // see base/memory.h
}

static bool send_part(struct rd_read_content *content, struct part *part, struct rd_digest *digest,
                      struct rd_error *error) {
  struct rd_record record = {.type = RD_RECORD_DATA, .data = {part->offset, {part->bytes, part->count}}};
  rd_digest_update(digest, part->bytes, part->count);
  return rd_stream_lend(content->writer, &record, &part->lent_until, error);
}

// Their memory and the descriptor are in use until then. Those that no thread has begun are read in vain.
static void wait_for_rest(struct rd_read_content *content) {
  for (; content->pending > 0; content->pending--) {
    rd_threads_wait(content->threads, &content->parts[content->first].job);
    content->first = (content->first + 1) % PARTS;
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
