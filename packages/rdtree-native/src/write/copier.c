// SPDX-License-Identifier: Apache-2.0
#include "write/copier.h"

#include "base/cleanup.h"
#include "base/digest.h"
#include "base/memory.h"
#include "entry/metadata.h"
#include "entry/partial_name.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/fs.h>
#include <sys/ioctl.h>

#define PIECE_BYTES (128u << 10)
#define KERNEL_MIN_BYTES (1u << 20)    // for less, setting up the kernel's copy takes longer than a copy by hand
#define SECTOR_BYTES 512u              // the unit of stx_blocks
#define KERNEL_PIECE_BYTES (64u << 20) // between two looks whether the copy has stopped

struct rd_copier {
  struct rd_write *write;
  struct rd_source_dirs *directories;
};

struct copy {
  struct rd_job job;
  struct rd_target_file *file;
  struct rd_source_dir *directory; // NULL: it cannot be opened, by `number`
  int number;
  char *name, *shown; // in the directory; for people
  int from;
  struct rd_digest *digest; // with `verify`: of what is copied
  bool is_by_hand;          // the kernel does not copy between these two
};

static void run_copy(struct rd_job *job);
static bool open_source(struct copy *copy, struct statx *status);
static bool copy_once(struct copy *copy, const struct statx *status, bool is_first);
static bool make_clone(struct copy *copy, uint64_t size);
static bool copy_data(struct copy *copy, uint64_t size);
static bool copy_range(struct copy *copy, uint64_t from, uint64_t end);
static ssize_t copy_some(struct copy *copy, uint64_t offset, uint64_t count);
static ssize_t copy_by_hand(struct copy *copy, uint64_t offset, uint64_t count);
static bool fail(struct copy *copy, int number, const char *text);

struct rd_copier *rd_copier_create(struct rd_write *write) {
  struct rd_copier *copier = rd_memory_new(1, sizeof *copier);
  *copier = (struct rd_copier){.write = write, .directories = rd_source_dirs_create(false)};
  return copier;
}

void rd_copier_destroy(struct rd_copier *copier) {
  if (copier == NULL) return;
  rd_source_dirs_destroy(copier->directories);
  free(copier);
}

void rd_copier_enter(struct rd_copier *copier, const struct rd_entry *entry) {
  const struct rd_tree_settings *settings = copier->write->settings;
  if (rd_source_dirs_depth(copier->directories) == 0 && entry->source < settings->source_count)
    rd_source_dirs_begin(copier->directories, settings->sources[entry->source]);
  rd_source_dirs_enter(copier->directories, entry->name);
}

void rd_copier_leave(struct rd_copier *copier) {
  rd_source_dirs_leave(copier->directories);
}

void rd_copier_copy(struct rd_copier *copier, const struct rd_entry *entry, struct rd_target_file *file) {
  const struct rd_tree_settings *settings = copier->write->settings;
  if (rd_source_dirs_depth(copier->directories) == 0 && entry->source < settings->source_count)
    rd_source_dirs_begin(copier->directories, settings->sources[entry->source]);
  struct copy *copy = rd_memory_new(1, sizeof *copy);
  *copy = (struct copy){
      .job = {.run = run_copy, .bytes = sizeof *copy + rd_target_file_bytes(file)}, .file = file, .from = -1};
  copy->directory = rd_source_dirs_keep(copier->directories);
  copy->number = errno;
  copy->name = rd_memory_copy((const char *)entry->name.at, entry->name.count);
  const char *shown = rd_source_dirs_shown(copier->directories, entry->name);
  copy->shown = rd_memory_copy(shown, strlen(shown));
  rd_jobs_put(copier->write->jobs, &copy->job);
}

// A file that changes while it is copied is copied once more.
static void run_copy(struct rd_job *job) {
  struct copy *copy = (struct copy *)job;
  struct rd_target_file *file = copy->file;
  struct rd_write *write = file->write;
  struct statx before, after;
  bool is_done = false, may_resume = write->settings->partial && file->size >= RD_PARTIAL_FILE_MIN_BYTES;
  if (rd_write_may_continue(write) && open_source(copy, &before) && rd_target_file_open(file, may_resume)) {
    for (int tries = 0; tries < 2 && !is_done && !atomic_load(&file->is_failed); tries++) {
      if (!copy_once(copy, &before, tries == 0)) break;
      if (!rd_status_of_fd(copy->from, &after)) {
        (void)fail(copy, errno, "cannot read");
        break;
      }
      is_done = !rd_status_differs(&before, &after);
      before = after;
    }
    if (!is_done && !atomic_load(&file->is_failed) && rd_write_may_continue(write))
      (void)fail(copy, 0, "it changed while it was copied, twice");
  }
  if (is_done) {
    struct rd_metadata now = rd_metadata_of(&after);
    file->size = after.stx_size;
    file->wanted.metadata.mtime_s = now.mtime_s;
    file->wanted.metadata.mtime_ns = now.mtime_ns;
    file->read = now;
    rd_write_count(write, &(struct rd_tree_totals){.sent_bytes = file->size});
  }
  file->is_unusable_partial = !is_done; // no run continues it
  atomic_store(&file->is_failed, !is_done);
  rd_target_file_complete(file);
  rd_cleanup_fd(&copy->from);
  rd_digest_destroy(copy->digest);
  rd_source_dir_release(copy->directory);
  free(copy->name);
  free(copy->shown);
  free(copy);
}

static bool open_source(struct copy *copy, struct statx *status) {
  if (copy->directory == NULL) return fail(copy, copy->number, "cannot open its directory");
  int flags = O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_NOCTTY | O_CLOEXEC;
  copy->from = openat(rd_source_dir_fd(copy->directory), copy->name, flags);
  if (copy->from < 0 || !rd_status_of_fd(copy->from, status)) return fail(copy, errno, "cannot read");
  return S_ISREG(status->stx_mode) || fail(copy, 0, "it is no longer a file");
}

// From the beginning. Holes stay holes; most files have none, and are not asked for them.
static bool copy_once(struct copy *copy, const struct statx *status, bool is_first) {
  struct rd_target_file *file = copy->file;
  uint64_t size = status->stx_size;
  struct rd_error error;
  file->range_count = 0;
  rd_digest_destroy(copy->digest);
  copy->digest = file->write->settings->verify ? rd_digest_create(&error) : NULL;
  bool is_empty = is_first && file->kind == RD_KIND_UNIQUE;
  if (!is_empty && ftruncate(file->fd, 0) < 0) return rd_target_file_fail(file, errno, "cannot write");
  if (make_clone(copy, size)) return true;
  bool has_holes = status->stx_blocks * SECTOR_BYTES < size;
  if (has_holes && ftruncate(file->fd, (off_t)size) < 0) return rd_target_file_fail(file, errno, "cannot write");
  if (!(has_holes ? copy_data(copy, size) : copy_range(copy, 0, size))) return false;
  if (copy->digest != NULL) rd_digest_value(copy->digest, file->digest);
  return true;
}

static bool make_clone(struct copy *copy, uint64_t size) {
  if (size == 0 || copy->digest != NULL || atomic_load(&copy->file->write->cannot_clone)) return false;
  if (ioctl(copy->file->fd, FICLONE, copy->from) == 0) return true;
  bool is_for_all = errno == EOPNOTSUPP || errno == ENOTTY || errno == EXDEV;
  if (is_for_all) atomic_store(&copy->file->write->cannot_clone, true);
  return false;
}

static bool copy_data(struct copy *copy, uint64_t size) {
  for (off_t at = 0, end; (uint64_t)at < size; at = end) {
    at = lseek(copy->from, at, SEEK_DATA);
    if (at < 0 && errno == ENXIO) break;
    if (at < 0)
      at = 0, end = (off_t)size; // a file system without holes
    else
      end = lseek(copy->from, at, SEEK_HOLE);
    if (end < 0 || (uint64_t)end > size) end = (off_t)size;
    if (!copy_range(copy, (uint64_t)at, (uint64_t)end)) return false;
  }
  return true;
}

static bool copy_range(struct copy *copy, uint64_t from, uint64_t end) {
  struct rd_target_file *file = copy->file;
  if (copy->digest != NULL && from < end) rd_target_file_add_range(file, from, end - from);
  while (from < end && rd_write_may_continue(file->write)) {
    ssize_t count = copy_some(copy, from, end - from);
    if (count < 0 && errno == EINTR) continue;
    if (count < 0) return false;
    if (count == 0) break; // it has become shorter: that is seen afterwards
    from += (uint64_t)count;
  }
  return from == end || rd_write_may_continue(file->write);
}

// -1, and reported: it cannot be read or written; with EINTR: to be called again.
static ssize_t copy_some(struct copy *copy, uint64_t offset, uint64_t count) {
  if (copy->is_by_hand || copy->digest != NULL || count < KERNEL_MIN_BYTES) return copy_by_hand(copy, offset, count);
  off_t in = (off_t)offset, out = (off_t)offset;
  size_t most = count < KERNEL_PIECE_BYTES ? (size_t)count : KERNEL_PIECE_BYTES;
  ssize_t copied = copy_file_range(copy->from, &in, copy->file->fd, &out, most, 0);
  if (copied > 0 || (copied < 0 && errno == EINTR)) return copied;
  copy->is_by_hand = true; // which also tells a read error from a write error
  return copy_by_hand(copy, offset, count);
}

static ssize_t copy_by_hand(struct copy *copy, uint64_t offset, uint64_t count) {
  static _Thread_local unsigned char piece[PIECE_BYTES];
  ssize_t got = pread(copy->from, piece, count < sizeof piece ? (size_t)count : sizeof piece, (off_t)offset);
  if (got < 0 && errno != EINTR) {
    (void)fail(copy, errno, "cannot read");
    errno = EIO;
  }
  if (got <= 0) return got;
  if (copy->digest != NULL) rd_digest_update(copy->digest, piece, (size_t)got);
  if (rd_target_file_write(copy->file, offset, piece, (size_t)got)) return got;
  errno = EIO;
  return -1;
}

// Of the source: nothing is removed at the target then. False always.
static bool fail(struct copy *copy, int number, const char *text) {
  struct rd_write *write = copy->file->write;
  atomic_store(&copy->file->is_failed, true);
  atomic_fetch_add(&write->source_failures, 1);
  rd_events_failed(copy->shown, number, text);
  rd_write_count(write, &(struct rd_tree_totals){.failed = 1});
  return false;
}
