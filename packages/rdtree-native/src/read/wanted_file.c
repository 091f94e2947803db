// SPDX-License-Identifier: Apache-2.0
#include "read/wanted_file.h"

#include "base/digest.h"
#include "base/io.h"
#include "base/memory.h"
#include "entry/metadata.h"
#include "read/holes.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define KEPT_BYTES (64u << 10) // a buffer larger than this is freed with its file
#define ATTEMPTS 2             // to read a file that changes meanwhile

static bool open_file(struct rd_wanted_file *file);
static bool is_dense(const struct rd_wanted_file *file);
static bool read_whole(struct rd_wanted_file *file);
static void digest(struct rd_wanted_file *file);
static void close_file(struct rd_wanted_file *file);

void rd_wanted_file_read(struct rd_wanted_file *file) {
  if (file->directory == NULL || !open_file(file)) return;
  uint64_t expected = file->expected;
  for (int i = 0; i < ATTEMPTS; i++) {
    // A larger one than was expected would take memory that was not counted.
    bool is_small = expected <= RD_SMALL_FILE_BYTES && file->status.stx_size <= expected &&
                    file->record.entry.want == RD_WANT_ALL && is_dense(file);
    if (!is_small) return;
    if (read_whole(file)) break;
    if (file->number != 0) break;
  }
  if (file->is_read) digest(file);
  if (!file->is_read && file->number == 0) file->reason = "changed while it was read";
  close_file(file);
}

void rd_wanted_file_clear(struct rd_wanted_file *file) {
  close_file(file);
  rd_source_dir_release(file->directory);
  free(file->shown);
  free(file->digests);
  unsigned char *bytes = file->bytes, *after = file->after;
  size_t room = file->room, after_room = file->after_room;
  if (room > KEPT_BYTES) {
    free(bytes);
    bytes = NULL;
    room = 0;
  }
  *file = (struct rd_wanted_file){.fd = -1, .bytes = bytes, .room = room, .after = after, .after_room = after_room};
}

bool rd_wanted_file_has_failed(const struct rd_wanted_file *file) {
  return file->number != 0 || file->reason != NULL;
}

// O_NONBLOCK: it may have become a fifo.
static bool open_file(struct rd_wanted_file *file) {
  int flags = O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_NOCTTY | O_CLOEXEC;
  file->fd = openat(rd_source_dir_fd(file->directory), file->name, flags);
  if (file->fd < 0 || !rd_status_of_fd(file->fd, &file->status)) {
    file->number = errno;
    if (errno == ELOOP || errno == ENXIO) file->reason = "is no longer a regular file";
  } else if (!S_ISREG(file->status.stx_mode)) {
    file->reason = "is no longer a regular file";
  } else {
    return true;
  }
  close_file(file);
  return false;
}

// A file system that compresses has fewer blocks than bytes too.
static bool is_dense(const struct rd_wanted_file *file) {
  struct rd_extent extent;
  uint64_t size = file->status.stx_size;
  if (!rd_has_holes(&file->status)) return true;
  return rd_next_extent(file->fd, 0, size, &extent) && extent.begin == 0 && extent.end == size;
}

// False: it changed, or cannot be read: `number`.
static bool read_whole(struct rd_wanted_file *file) {
  size_t size = (size_t)file->status.stx_size;
  struct statx after;
  file->count = 0;
  file->is_read = size == 0;
  if (size == 0) return true;
  if (file->room < size) {
    free(file->bytes);
    file->bytes = rd_memory_resize(NULL, size, 1);
    file->room = size;
  }
  while (file->count < size) {
    ssize_t count = pread(file->fd, file->bytes + file->count, size - file->count, (off_t)file->count);
    if (count < 0 && errno == EINTR) continue;
    if (count < 0) file->number = errno;
    if (count <= 0) break;
    file->count += (size_t)count;
  }
  if (file->number != 0) return false;
  if (!rd_status_of_fd(file->fd, &after)) {
    file->number = errno;
    return false;
  }
  file->is_read = file->count == size && !rd_status_differs(&file->status, &after);
  file->status = after;
  return file->is_read;
}

static void digest(struct rd_wanted_file *file) {
  struct rd_error error;
  struct rd_digest *running = rd_digest_create(&error);
  if (running == NULL) abort(); // without memory: see base/memory.h
  rd_digest_update(running, file->bytes, file->count);
  rd_digest_value(running, file->digest);
  rd_digest_destroy(running);
}

static void close_file(struct rd_wanted_file *file) {
  if (file->fd >= 0) close(file->fd);
  file->fd = -1;
}
