// SPDX-License-Identifier: Apache-2.0
#include "write/incoming.h"

#include "base/cleanup.h"
#include "base/digest.h"
#include "base/memory.h"
#include "base/pages.h"
#include "entry/partial_name.h"
#include "write/direct_file.h"

#include <fcntl.h>
#include <sys/stat.h>

#define SMALL_MAX_BYTES (1u << 20) // of a file that one job writes whole
#define PIECE_BYTES (256u << 10)   // in which a partial file is read
#define WAIT_MS 1000

// Bytes of a file that is written as they come.
struct chunk {
  struct rd_job job;
  struct rd_target_file *file;
  uint64_t offset;
  size_t count;
  const unsigned char *bytes;
  struct rd_ring_hold *hold; // of the ring that they are in; NULL: they are in `copy`
  unsigned char *copy;       // page-aligned, for direct I/O; NULL: they are in a ring
};

// A block that an interrupted copy left: read once more, since another run may have written to it.
struct block {
  struct rd_job job;
  struct rd_target_file *file;
  uint64_t offset, count;
  unsigned char digest[RD_DIGEST_TREE_BYTES];
};

static const char has_changed[] = "its partial file from an interrupted copy has changed (run the copy again)";

static bool begin_stream(struct rd_target_file *file);
static void wait_for_jobs(const struct rd_target_file *file);
static bool is_long_enough(int fd, uint64_t bytes);
static void keep_digests(struct rd_target_file *file, const struct rd_blocks *blocks);
static void find_published(struct rd_target_file *file);
static void put_gathered(struct rd_target_file *file);
static void put_chunk(struct rd_target_file *file, uint64_t offset, struct rd_bytes bytes, struct rd_ring_hold *hold);
static unsigned char *copy_of(struct rd_bytes bytes);
static void gather(struct rd_target_file *file, uint64_t offset, struct rd_bytes bytes);
static void write_small(struct rd_job *job);
static void write_chunk(struct rd_job *job);
static void check_block(struct rd_job *job);
static bool read_block(struct block *block, unsigned char *piece, struct rd_digest *digest);
static void release(struct rd_target_file *file);
static bool fit_size(struct rd_target_file *file);
static void forget(struct rd_target_file *file);
static void digest_differs(struct rd_target_file *file);

void rd_incoming_resume(struct rd_target_file *file, const struct rd_blocks *blocks) {
  if (!begin_stream(file)) return;
  file->end = blocks->digests.count / RD_DIGEST_TREE_BYTES * blocks->block_bytes;
  if (file->other_fd < 0 && !is_long_enough(file->fd, file->end)) find_published(file);
  bool is_there = is_long_enough(file->other_fd >= 0 ? file->other_fd : file->fd, file->end);
  if (!is_there || ftruncate(file->fd, file->other_fd >= 0 ? 0 : (off_t)file->end) < 0) {
    (void)rd_target_file_fail(file, 0, has_changed);
    return;
  }
  if (file->write->settings->verify) keep_digests(file, blocks);
  for (uint64_t offset = 0; offset < file->end; offset += blocks->block_bytes) {
    struct block *block = rd_memory_new(1, sizeof *block);
    *block = (struct block){{.run = check_block}, file, offset, blocks->block_bytes, {0}};
    memcpy(block->digest, blocks->digests.at + offset / blocks->block_bytes * RD_DIGEST_TREE_BYTES,
           RD_DIGEST_TREE_BYTES);
    atomic_fetch_add(&file->pending, 1);
    rd_jobs_put(file->write->jobs, &block->job);
  }
}

void rd_incoming_add(struct rd_target_file *file, uint64_t offset, struct rd_bytes bytes,
                     struct rd_stream_reader *reader) {
  rd_write_count(file->write, &(struct rd_tree_totals){.sent_bytes = bytes.count});
  bool is_small = file->running == NULL && file->size <= SMALL_MAX_BYTES;
  if (is_small && file->data_bytes + bytes.count <= SMALL_MAX_BYTES) {
    gather(file, offset, bytes);
    return;
  }
  if (file->running == NULL && begin_stream(file)) {
    if (file->kind == RD_KIND_PARTIAL && ftruncate(file->fd, 0) < 0)
      (void)rd_target_file_fail(file, errno, "cannot write");
    rd_direct_file_begin(file);
    put_gathered(file);
  }
  if (atomic_load(&file->is_failed)) return;
  put_chunk(file, offset, bytes, rd_stream_hold(reader));
}

void rd_incoming_restart(struct rd_target_file *file) {
  if (file->running == NULL) {
    forget(file);
    return;
  }
  struct rd_error error;
  wait_for_jobs(file);
  rd_digest_destroy(file->running);
  file->running = rd_digest_create(&error);
  if (file->running == NULL) abort(); // see base/memory.h
  if (file->fd >= 0 && ftruncate(file->fd, 0) < 0) (void)rd_target_file_fail(file, errno, "cannot write");
  file->resumed_count = 0;
  forget(file);
}

void rd_incoming_end(struct rd_target_file *file, const struct rd_file_end *end) {
  file->wanted.metadata.mtime_s = end->metadata.mtime_s;
  file->wanted.metadata.mtime_ns = end->metadata.mtime_ns;
  file->read = end->metadata;
  file->size = end->size;
  memcpy(file->digest, end->digest, sizeof file->digest);
  if (file->running == NULL) {
    file->job = (struct rd_job){.run = write_small, .bytes = rd_target_file_bytes(file)};
    rd_jobs_put(file->write->jobs, &file->job);
    return;
  }
  unsigned char value[RD_DIGEST_BYTES];
  rd_digest_value(file->running, value);
  if (memcmp(value, file->digest, sizeof value) != 0 && !atomic_load(&file->is_failed)) digest_differs(file);
  release(file);
}

void rd_incoming_drop(struct rd_target_file *file) {
  atomic_store(&file->is_failed, true);
  file->is_unusable_partial = true;
  release(file);
}

void rd_incoming_abandon(struct rd_target_file *file) {
  wait_for_jobs(file);
  uint64_t kept = file->end / RD_PARTIAL_FILE_MIN_BYTES * RD_PARTIAL_FILE_MIN_BYTES;
  if (kept > 0 && rd_target_file_may_stay(file)) {
    RD_AUTO_FREE char *path = rd_directory_path(file->directory, file->name);
    rd_events_kept(path, kept);
  }
  atomic_store(&file->is_failed, true);
  release(file);
}

// It is written as it comes from now on.
static bool begin_stream(struct rd_target_file *file) {
  struct rd_error error;
  bool may_resume = file->write->settings->partial && file->size >= RD_PARTIAL_FILE_MIN_BYTES;
  file->running = rd_digest_create(&error);
  if (file->running == NULL) abort(); // see base/memory.h
  return rd_target_file_open(file, may_resume);
}

static void wait_for_jobs(const struct rd_target_file *file) {
  while (atomic_load(&file->pending) > 1) (void)rd_jobs_wait(file->write->jobs, WAIT_MS);
}

static bool is_long_enough(int fd, uint64_t bytes) {
  struct stat now;
  return fstat(fd, &now) == 0 && (uint64_t)now.st_size >= bytes;
}

static void keep_digests(struct rd_target_file *file, const struct rd_blocks *blocks) {
  file->resumed_digests = (unsigned char *)rd_memory_copy((const char *)blocks->digests.at, blocks->digests.count);
  file->resumed_count = blocks->digests.count / RD_DIGEST_TREE_BYTES;
  file->resumed_block_bytes = blocks->block_bytes;
}

// Another run has completed its copy since the partial file was compared.
static void find_published(struct rd_target_file *file) {
  file->other_fd = openat(file->directory->fd, file->name, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC);
}

static void put_gathered(struct rd_target_file *file) {
  struct rd_range *ranges = file->ranges;
  unsigned char *data = file->data;
  size_t count = file->range_count;
  file->ranges = NULL;
  file->data = NULL;
  forget(file);
  size_t at = 0;
  for (size_t i = 0; i < count; i++) {
    put_chunk(file, ranges[i].offset, (struct rd_bytes){data + at, (size_t)ranges[i].count}, NULL);
    at += (size_t)ranges[i].count;
  }
  free(ranges);
  free(data);
}

static void put_chunk(struct rd_target_file *file, uint64_t offset, struct rd_bytes bytes, struct rd_ring_hold *hold) {
  unsigned char *copy = hold == NULL ? copy_of(bytes) : NULL;
  struct chunk *chunk = rd_memory_resize(NULL, sizeof *chunk, 1);
  // The system lets one thread at a time write to a file; another one would only spin.
  *chunk = (struct chunk){{.run = write_chunk, .bytes = sizeof *chunk + bytes.count, .group = file},
                          file,
                          offset,
                          bytes.count,
                          hold == NULL ? copy : bytes.at,
                          hold,
                          copy};
  rd_digest_update(file->running, bytes.at, bytes.count);
  if (file->write->settings->verify) rd_target_file_add_range(file, offset, bytes.count);
  file->end = offset + bytes.count;
  atomic_fetch_add(&file->pending, 1);
  rd_jobs_put(file->write->jobs, &chunk->job);
}

// Returns page-aligned memory.
static unsigned char *copy_of(struct rd_bytes bytes) {
  unsigned char *copy = rd_pages_allocate(bytes.count);
  if (copy == NULL) abort(); // see base/memory.h
  memcpy(copy, bytes.at, bytes.count);
  return copy;
}

static void gather(struct rd_target_file *file, uint64_t offset, struct rd_bytes bytes) {
  size_t needed = file->data_bytes + bytes.count;
  if (needed > file->data_room) {
    file->data_room = needed > file->size ? 2 * needed : (size_t)file->size;
    file->data = rd_memory_resize(file->data, file->data_room, 1);
  }
  memcpy(file->data + file->data_bytes, bytes.at, bytes.count);
  file->data_bytes = needed;
  rd_target_file_add_range(file, offset, bytes.count);
  file->end = offset + bytes.count;
}

static void write_small(struct rd_job *job) {
  struct rd_target_file *file = (struct rd_target_file *)job;
  unsigned char value[RD_DIGEST_BYTES];
  if (!rd_write_may_continue(file->write))
    atomic_store(&file->is_failed, true);
  else {
    rd_digest_of(file->data, file->data_bytes, value);
    if (memcmp(value, file->digest, sizeof value) != 0)
      digest_differs(file);
    else if (rd_target_file_open(file, false)) {
      const unsigned char *at = file->data;
      bool is_written = true;
      for (size_t i = 0; i < file->range_count && is_written; at += file->ranges[i].count, i++)
        is_written = rd_target_file_write(file, file->ranges[i].offset, at, (size_t)file->ranges[i].count);
      if (is_written) (void)fit_size(file);
    }
  }
  rd_target_file_complete(file);
}

static void write_chunk(struct rd_job *job) {
  struct chunk *chunk = (struct chunk *)job;
  struct rd_target_file *file = chunk->file;
  // A partial file gets all that came, for the next run.
  bool is_wanted = !atomic_load(&file->write->is_stopped) || file->kind == RD_KIND_PARTIAL;
  if (!atomic_load(&file->is_failed) && is_wanted && !atomic_load(&file->write->is_disk_lost))
    (void)rd_direct_file_write(file, chunk->offset, chunk->bytes, chunk->count);
  if (chunk->hold != NULL) rd_ring_hold_give_back(chunk->hold);
  free(chunk->copy);
  free(chunk);
  release(file);
}

static void check_block(struct rd_job *job) {
  struct block *block = (struct block *)job;
  struct rd_target_file *file = block->file;
  struct rd_error error;
  unsigned char value[RD_DIGEST_BYTES];
  if (!atomic_load(&file->is_failed) && !atomic_load(&file->write->is_stopped)) {
    struct rd_digest *digest = rd_digest_create(&error);
    if (digest == NULL) abort(); // see base/memory.h
    unsigned char *piece = rd_memory_new(PIECE_BYTES, 1);
    bool is_read = read_block(block, piece, digest);
    rd_digest_value(digest, value);
    if (!is_read || memcmp(value, block->digest, sizeof value) != 0)
      (void)rd_target_file_fail(file, 0, has_changed);
    else
      rd_write_count(file->write, &(struct rd_tree_totals){.resumed_bytes = block->count});
    rd_digest_destroy(digest);
    free(piece);
  }
  free(block);
  release(file);
}

// And writes it, where another run holds the partial file.
static bool read_block(struct block *block, unsigned char *piece, struct rd_digest *digest) {
  struct rd_target_file *file = block->file;
  int fd = file->other_fd >= 0 ? file->other_fd : file->fd;
  for (uint64_t at = 0; at < block->count;) {
    uint64_t left = block->count - at;
    size_t most = left < PIECE_BYTES ? (size_t)left : PIECE_BYTES;
    ssize_t count = pread(fd, piece, most, (off_t)(block->offset + at));
    if (count < 0 && errno == EINTR) continue;
    if (count <= 0) return false;
    rd_digest_update(digest, piece, (size_t)count);
    if (fd != file->fd && !rd_target_file_write(file, block->offset + at, piece, (size_t)count)) return false;
    at += (uint64_t)count;
  }
  return true;
}

// The last user of the file completes it.
static void release(struct rd_target_file *file) {
  if (atomic_fetch_sub(&file->pending, 1) != 1) return;
  bool is_whole = !atomic_load(&file->is_failed) && !atomic_load(&file->write->is_stopped);
  rd_direct_file_end(file);
  if (is_whole) (void)fit_size(file);
  rd_target_file_complete(file);
}

// Behind the data there is a hole, and nothing that an interrupted copy has left.
static bool fit_size(struct rd_target_file *file) {
  if (file->kind == RD_KIND_UNIQUE && file->end == file->size) return true;
  return ftruncate(file->fd, (off_t)file->size) == 0 || rd_target_file_fail(file, errno, "cannot write");
}

static void forget(struct rd_target_file *file) {
  free(file->data);
  free(file->ranges);
  file->data = NULL;
  file->ranges = NULL;
  file->data_bytes = file->data_room = file->range_count = 0;
  file->end = 0;
}

static void digest_differs(struct rd_target_file *file) {
  struct rd_error error;
  RD_AUTO_FREE char *path = rd_directory_path(file->directory, file->name);
  rd_error_set(&error, RD_CODE_DATA_DAMAGED, "%.400s: its bytes changed in transit (digests differ)", path);
  rd_write_stop(file->write, &error);
}
