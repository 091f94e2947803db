// SPDX-License-Identifier: Apache-2.0
#include "source/source.h"

#include "base/cleanup.h"
#include "base/direct_reader.h"
#include "base/io.h"
#include "base/memory.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

// A shorter hole is read together with the data around it.
#define HOLE_MIN_BYTES (64 << 10)

struct rd_source {
  int fd;     // -1: a fifo that is not open yet
  char *path; // NULL: an inherited descriptor
  int64_t size_bytes;
  int now_fd;                      // non-blocking, for the same pipe; -1: none
  struct rd_direct_reader *direct; // NULL: all reads go through the cache
  bool tells_holes;                // a file whose offset no other process uses, on a file system that reports holes
  off_t no_hole_before;            // as far as is known, there is no long hole before this offset
};

static ssize_t read_once(struct rd_source *source, void *bytes, size_t most);
static ssize_t read_directly(const struct rd_source *source, void *bytes, size_t most);
static size_t skip_hole(struct rd_source *source, size_t most);
static bool open_path(struct rd_source *source, struct rd_error *error);
static bool open_fifo(struct rd_source *source, const atomic_bool *stop, struct rd_error *error);
static void measure(struct rd_source *source);
static ssize_t unreadable(const struct rd_source *source, struct rd_error *error);

struct rd_source *rd_source_from_fd(int fd) {
  struct rd_source *source = rd_memory_new(1, sizeof *source);
  source->fd = fd;
  source->now_fd = rd_pipe_reopen(fd, O_RDONLY);
  rd_pipe_grow(fd);
  measure(source);
  return source;
}

struct rd_source *rd_source_open(const char *path, struct rd_error *error) {
  struct rd_source *source = rd_memory_new(1, sizeof *source);
  source->path = rd_memory_copy(path, strlen(path));
  source->fd = source->now_fd = -1;
  if (!open_path(source, error)) {
    rd_source_destroy(source);
    return NULL;
  }
  measure(source);
  return source;
}

void rd_source_destroy(struct rd_source *source) {
  if (source == NULL) return;
  rd_direct_reader_close(source->direct);
  if (source->path != NULL) rd_cleanup_fd(&source->fd);
  rd_cleanup_fd(&source->now_fd);
  free(source->path);
  free(source);
}

int64_t rd_source_size(const struct rd_source *source) {
  return source->size_bytes;
}

int rd_source_poll_fd(const struct rd_source *source) {
  return source->now_fd >= 0 ? source->fd : -1;
}

ssize_t rd_source_read(struct rd_source *source, void *bytes, size_t most, const atomic_bool *stop,
                       struct rd_error *error) {
  if (source->fd < 0 && !open_fifo(source, stop, error)) return -1;
  while (!atomic_load(stop)) {
    ssize_t got = read_once(source, bytes, most);
    if (got >= 0) return got;
    struct pollfd readable = {.fd = source->fd, .events = POLLIN};
    // Another process made the descriptor non-blocking.
    if (errno == EAGAIN && (poll(&readable, 1, -1) >= 0 || errno == EINTR)) continue;
    if (errno != EINTR) return unreadable(source, error);
  }
  rd_error_set(error, RD_CODE_ABORTED, "reading was stopped");
  return -1;
}

ssize_t rd_source_read_now(struct rd_source *source, void *bytes, size_t most, struct rd_error *error) {
  ssize_t got = rd_read_some(source->now_fd, bytes, most);
  if (got >= 0) return got;
  error->code = RD_CODE_OK;
  return errno == EAGAIN ? -1 : unreadable(source, error);
}

static ssize_t read_once(struct rd_source *source, void *bytes, size_t most) {
  size_t zeros = source->tells_holes ? skip_hole(source, most) : 0;
  if (zeros > 0) {
    memset(bytes, 0, zeros);
    return (ssize_t)zeros;
  }
  ssize_t got = read_directly(source, bytes, most);
  return got > 0 ? got : read(source->fd, bytes, most);
}

// Returns 0 if read() must be used.
static ssize_t read_directly(const struct rd_source *source, void *bytes, size_t most) {
  off_t at = source->direct != NULL ? lseek(source->fd, 0, SEEK_CUR) : -1;
  ssize_t got = at >= 0 ? rd_direct_reader_read(source->direct, bytes, most, at) : 0;
  return got > 0 && lseek(source->fd, at + got, SEEK_SET) >= 0 ? got : 0;
}

// Skips up to `most` bytes of a hole and returns how many; 0: there is no hole, or the file system does not report it.
// Reading a hole would fill the page cache with zeros and take 3 s per GiB.
static size_t skip_hole(struct rd_source *source, size_t most) {
  off_t at = lseek(source->fd, 0, SEEK_CUR);
  if (at < 0 || at < source->no_hole_before) return 0;
  struct stat status;
  off_t data = lseek(source->fd, at, SEEK_DATA);
  if (data < 0 && errno == ENXIO && fstat(source->fd, &status) == 0) data = status.st_size; // to the end of the file
  off_t hole_bytes = data - at;
  if (hole_bytes >= HOLE_MIN_BYTES) {
    size_t passed = hole_bytes < (off_t)most ? (size_t)hole_bytes : most;
    if (lseek(source->fd, at + (off_t)passed, SEEK_SET) >= 0) return passed;
  }
  off_t hole = data >= at ? lseek(source->fd, data, SEEK_HOLE) : -1;
  source->tells_holes = data >= 0 && lseek(source->fd, at, SEEK_SET) == at;
  source->no_hole_before = hole > at + (off_t)most ? hole : at + (off_t)most;
  return 0;
}

static bool open_path(struct rd_source *source, struct rd_error *error) {
  struct stat status;
  if (stat(source->path, &status) < 0) return unreadable(source, error) >= 0;
  if (S_ISDIR(status.st_mode)) {
    errno = EISDIR;
    return unreadable(source, error) >= 0;
  }
  if (S_ISFIFO(status.st_mode)) return true;
  source->fd = open(source->path, O_RDONLY | O_CLOEXEC | O_NOCTTY);
  if (source->fd < 0) return unreadable(source, error) >= 0;
  posix_fadvise(source->fd, 0, 0, POSIX_FADV_SEQUENTIAL);
  return true;
}

static bool open_fifo(struct rd_source *source, const atomic_bool *stop, struct rd_error *error) {
  while (source->fd < 0) {
    if (atomic_load(stop)) {
      rd_error_set(error, RD_CODE_ABORTED, "reading was stopped");
      return false;
    }
    source->fd = open(source->path, O_RDONLY | O_CLOEXEC);
    if (source->fd < 0 && errno != EINTR) return unreadable(source, error) >= 0;
  }
  rd_pipe_grow(source->fd);
  return true;
}

static void measure(struct rd_source *source) {
  struct stat status;
  source->size_bytes = -1;
  if (source->fd < 0 || fstat(source->fd, &status) < 0) return;
  if (!S_ISREG(status.st_mode)) return;
  off_t at = lseek(source->fd, 0, SEEK_CUR); // an inherited descriptor keeps its offset
  if (at >= 0 && at <= status.st_size) source->size_bytes = status.st_size - at;
  source->direct = rd_direct_reader_open(source->fd);
  source->tells_holes = source->path != NULL;
}

static ssize_t unreadable(const struct rd_source *source, struct rd_error *error) {
  rd_error_set_errno(error, RD_CODE_SOURCE_UNREADABLE, "cannot read %.300s",
                     source->path != NULL ? source->path : "standard input");
  return -1;
}
