// SPDX-License-Identifier: Apache-2.0
#include "compare/partial.h"

#include "base/cleanup.h"
#include "base/memory.h"
#include "base/worker.h"
#include "entry/file_digest.h"
#include "entry/partial_name.h"

#include <fcntl.h>
#include <stdatomic.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#define BLOCK_MIN_BYTES (UINT64_C(8) << 20)
#define THREADS_MAX 64u

struct work {
  int fd;
  struct rd_partial *partial;
  uint64_t count;
  atomic_uint_fast64_t next, failed; // failed: the first block that cannot be read
  const struct rd_tree_totals *progress;
  const char *path;
};

static int open_partial(int directory_fd, const char *name, uint64_t *bytes);
static bool is_read_from_disk(int fd);
static bool is_locked(int fd);
static uint64_t block_bytes_of(uint64_t bytes);
static void digest_blocks(struct work *work, unsigned threads);
static void *run(void *context);
static void lower(atomic_uint_fast64_t *least, uint64_t value);

bool rd_partial_find(struct rd_partial *partial, const struct rd_entry *entry, int directory_fd, const char *name,
                     unsigned threads, const struct rd_tree_totals *progress, const char *path) {
  char partial_name[RD_PARTIAL_NAME_BYTES];
  uint64_t bytes;
  if (directory_fd < 0) return false;
  rd_partial_name(rd_bytes_of(name), partial_name);
  RD_AUTO_CLOSE int fd = open_partial(directory_fd, partial_name, &bytes);
  if (fd < 0 || !is_read_from_disk(fd)) return false;
  if (bytes > entry->size) bytes = entry->size;
  uint64_t block_bytes = block_bytes_of(bytes), count = bytes / block_bytes;
  if (count == 0) return false;
  partial->digests = rd_memory_new((size_t)count, RD_DIGEST_TREE_BYTES);
  struct work work = {.fd = fd, .partial = partial, .count = count, .progress = progress, .path = path};
  partial->blocks.block_bytes = block_bytes;
  atomic_store(&work.failed, count);
  digest_blocks(&work, threads);
  count = atomic_load(&work.failed);
  partial->blocks.bytes = count * block_bytes;
  partial->blocks.digests = (struct rd_bytes){partial->digests, (size_t)count * RD_DIGEST_TREE_BYTES};
  if (count > 0) return true;
  free(partial->digests);
  return false;
}

bool rd_partial_is_free(int directory_fd, const char *partial_name) {
  RD_AUTO_CLOSE int fd = rd_file_open(directory_fd, partial_name);
  return fd >= 0 && !is_locked(fd);
}

// -1: there is none, it is another user's, or another run writes to it.
static int open_partial(int directory_fd, const char *name, uint64_t *bytes) {
  struct stat status;
  RD_AUTO_CLOSE int fd = rd_file_open(directory_fd, name);
  if (fd < 0 || fstat(fd, &status) < 0 || status.st_uid != geteuid() || is_locked(fd)) return -1;
  *bytes = (uint64_t)status.st_size;
  return rd_take_fd(&fd);
}

// After a write error the page cache can hold clean pages that never reached the disk, and another read returns them.
// Once the file is synced, all its pages can be dropped.
static bool is_read_from_disk(int fd) {
  return fsync(fd) == 0 && posix_fadvise(fd, 0, 0, POSIX_FADV_DONTNEED) == 0;
}

static bool is_locked(int fd) {
  if (flock(fd, LOCK_SH | LOCK_NB) < 0) return true;
  flock(fd, LOCK_UN);
  return false;
}

static uint64_t block_bytes_of(uint64_t bytes) {
  uint64_t block_bytes = BLOCK_MIN_BYTES;
  while (bytes / block_bytes > RD_BLOCKS_MAX) block_bytes *= 2;
  return block_bytes;
}

static void digest_blocks(struct work *work, unsigned threads) {
  struct rd_worker started[THREADS_MAX];
  struct rd_error ignored; // fewer threads do the same
  if (threads > THREADS_MAX) threads = THREADS_MAX;
  if (threads > work->count) threads = (unsigned)work->count;
  unsigned count = 0;
  while (count + 1 < threads && rd_worker_start(&started[count], run, work, &ignored)) count++;
  run(work);
  for (unsigned i = 0; i < count; i++) pthread_join(started[i].thread, NULL);
}

// A thread: digests one block after another, until all are taken or one cannot be read.
static void *run(void *context) {
  struct work *work = context;
  uint64_t block_bytes = work->partial->blocks.block_bytes, block;
  while ((block = atomic_fetch_add(&work->next, 1)) < atomic_load(&work->failed)) {
    unsigned char *digest = work->partial->digests + block * RD_DIGEST_TREE_BYTES;
    if (!rd_file_digest(work->fd, block * block_bytes, block_bytes, digest)) lower(&work->failed, block);
    rd_events_progress(work->progress, work->path, false);
  }
  return NULL;
}

static void lower(atomic_uint_fast64_t *least, uint64_t value) {
  uint64_t present = atomic_load(least);
  while (value < present && !atomic_compare_exchange_weak(least, &present, value)) continue;
}
