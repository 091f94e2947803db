// SPDX-License-Identifier: Apache-2.0
#include "sink/sink.h"

#include "base/cleanup.h"
#include "base/io.h"
#include "base/memory.h"
#include "sink/atomic_file.h"
#include "sink/resolved_path.h"
#include "sink/sparse_file.h"

#include <fcntl.h>
#include <poll.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>

// Write-back of a file starts after every 8 MiB, so that the fsync at the end has less to do: 0.35 s instead of 0.65 s
// for 512 MiB.
#define WRITE_BACK_BYTES (8u << 20)
// The most that a program of a copy may hold. More than a processor's cache has room for would only be slower.
#define SHARED_BYTES (8u << 20)

struct rd_sink {
  char *path; // NULL: an inherited descriptor
  struct rd_resolved_path resolved;
  int fd;     // -1: a fifo that is not open yet
  int now_fd; // non-blocking, for the same pipe or /dev/null; -1: none
  bool is_file;
  struct rd_atomic_file *atomic_file;
  struct rd_sparse_file *sparse; // NULL: every byte is written
  struct rd_shared_ring *shared; // NULL: bytes go to the descriptor
  bool appending;
  bool created; // the file to append to did not exist
  off_t length_before;
  off_t written;
  size_t unsent_bytes; // since the last write-back
  bool is_committed;
};

static void truncate_appended(const struct rd_sink *sink);
static ssize_t put(struct rd_shared_ring *shared, const unsigned char *bytes, size_t count);
static ssize_t write_once(struct rd_sink *sink, const unsigned char *bytes, size_t count);
static struct rd_sink *new_sink(void);
static bool is_null(int fd);
static bool open_path(struct rd_sink *sink, bool append, struct rd_error *error);
static bool open_replacement(struct rd_sink *sink, struct rd_error *error);
static bool open_to_append(struct rd_sink *sink, struct rd_error *error);
static bool refuse_names(const struct rd_sink *sink, struct rd_error *error);
static bool open_in_place(struct rd_sink *sink, struct rd_error *error);
static bool open_fifo(struct rd_sink *sink, const atomic_bool *stop, struct rd_error *error);
static bool stopped(struct rd_error *error);
static bool unwritable(const struct rd_sink *sink, struct rd_error *error);

struct rd_sink *rd_sink_from_fd(int fd) {
  struct rd_sink *sink = new_sink();
  sink->fd = fd;
  struct stat status;
  sink->is_file = fstat(fd, &status) == 0 && S_ISREG(status.st_mode);
  sink->now_fd = is_null(fd) ? fcntl(fd, F_DUPFD_CLOEXEC, 0) : rd_pipe_reopen(fd, O_WRONLY);
  rd_pipe_grow(fd);
  return sink;
}

struct rd_sink *rd_sink_from_ring(int fd, struct rd_shared_ring *shared, struct rd_error *error) {
  struct rd_sink *sink = new_sink();
  sink->fd = fd;
  sink->shared = shared;
  if (rd_shared_ring_make(shared, SHARED_BYTES, error)) return sink;
  rd_sink_destroy(sink);
  return NULL;
}

struct rd_sink *rd_sink_open(const char *path, bool append, struct rd_error *error) {
  struct rd_sink *sink = new_sink();
  sink->path = rd_memory_copy(path, strlen(path));
  if (open_path(sink, append, error)) return sink;
  rd_sink_destroy(sink);
  return NULL;
}

void rd_sink_destroy(struct rd_sink *sink) {
  if (sink == NULL) return;
  if (sink->appending && !sink->is_committed) truncate_appended(sink);
  rd_shared_ring_destroy(sink->shared);
  rd_sparse_file_destroy(sink->sparse);
  rd_atomic_file_destroy(sink->atomic_file);
  if (sink->path != NULL && sink->atomic_file == NULL) rd_cleanup_fd(&sink->fd);
  rd_cleanup_fd(&sink->now_fd);
  rd_resolved_path_close(&sink->resolved);
  free(sink->path);
  free(sink);
}

bool rd_sink_write(struct rd_sink *sink, const unsigned char *bytes, size_t count, const atomic_bool *stop,
                   struct rd_error *error) {
  if (sink->fd < 0 && !open_fifo(sink, stop, error)) return false;
  for (size_t done = 0; done < count;) {
    if (atomic_load(stop)) return stopped(error);
    ssize_t written = write_once(sink, bytes + done, count - done);
    if (written >= 0) {
      done += (size_t)written;
      sink->written += written;
      continue;
    }
    struct pollfd writable = {.fd = sink->fd, .events = POLLOUT};
    // Another process made the descriptor non-blocking.
    if (errno == EAGAIN && (poll(&writable, 1, -1) >= 0 || errno == EINTR)) continue;
    if (errno != EINTR) return unwritable(sink, error);
  }
  return true;
}

bool rd_sink_never_blocks(const struct rd_sink *sink) {
  return sink->now_fd >= 0;
}

ssize_t rd_sink_write_now(struct rd_sink *sink, const unsigned char *bytes, size_t count, struct rd_error *error) {
  ssize_t written = rd_write_some(sink->now_fd, bytes, count);
  if (written >= 0) {
    sink->written += written;
    return written;
  }
  if (errno == EAGAIN) return 0;
  unwritable(sink, error);
  return -1;
}

bool rd_sink_commit(struct rd_sink *sink, struct rd_error *error) {
  if (sink->sparse != NULL && !rd_sparse_file_finish(sink->sparse)) return unwritable(sink, error);
  sink->is_committed = true;
  rd_cleanup_fd(&sink->now_fd); // the reader sees end of file only when all descriptors of the pipe are closed
  if (sink->atomic_file != NULL) return rd_atomic_file_commit(sink->atomic_file, error);
  struct stat status;
  if (sink->fd < 0 || fstat(sink->fd, &status) < 0) return true; // a fifo that was never written to
  bool is_storage = S_ISREG(status.st_mode) || S_ISBLK(status.st_mode);
  if (!is_storage || rd_make_permanent(sink->fd)) return true;
  sink->is_committed = false;
  return unwritable(sink, error);
}

int rd_sink_directory_fd(const struct rd_sink *sink) {
  return sink->is_file ? sink->resolved.directory_fd : -1;
}

int rd_sink_watch_fd(const struct rd_sink *sink) {
  struct stat status;
  if (sink->fd < 0 || fstat(sink->fd, &status) < 0) return -1;
  return S_ISFIFO(status.st_mode) || S_ISSOCK(status.st_mode) ? sink->fd : -1;
}

// Removes the file if it is new; otherwise truncates it.
static void truncate_appended(const struct rd_sink *sink) {
  struct stat status;
  // If another process has also appended, truncating would remove its data.
  if (fstat(sink->fd, &status) < 0 || status.st_size != sink->length_before + sink->written) return;
  if (sink->created)
    unlinkat(sink->resolved.directory_fd, sink->resolved.name, 0);
  else if (sink->written > 0 && ftruncate(sink->fd, sink->length_before) < 0)
    return; // the caller already reports a failure
}

// Like write() to a pipe: waits for room, fails with EPIPE if the reader is gone, and with EINTR.
static ssize_t put(struct rd_shared_ring *shared, const unsigned char *bytes, size_t count) {
  struct rd_error error;
  struct rd_ring *ring = rd_shared_ring_get(shared, &error);
  for (bool expects_news = false;; expects_news = !expects_news) {
    size_t room = rd_ring_room(ring), part = room < count ? room : count;
    if (part > 0 && rd_ring_put(ring, bytes, part)) {
      rd_shared_ring_tell(shared);
      return (ssize_t)part;
    }
    if (!expects_news) {
      rd_shared_ring_expect_news(shared); // then looks once more
      continue;
    }
    struct pollfd news = {.fd = rd_shared_ring_poll_fd(shared), .events = POLLIN};
    errno = EPIPE;
    if (news.fd < 0 || poll(&news, 1, -1) < 0) return -1;
    rd_shared_ring_woken(shared);
  }
}

static ssize_t write_once(struct rd_sink *sink, const unsigned char *bytes, size_t count) {
  if (sink->shared != NULL) return put(sink->shared, bytes, count);
  ssize_t written =
      sink->sparse != NULL ? rd_sparse_file_write(sink->sparse, bytes, count) : write(sink->fd, bytes, count);
  if (!sink->is_file || written < 0) return written;
  if (sink->appending) rd_sparse_file_punch(sink->fd, bytes, (size_t)written);
  sink->unsent_bytes += (size_t)written;
  if (sink->unsent_bytes < WRITE_BACK_BYTES) return written;
  sync_file_range(sink->fd, 0, 0, SYNC_FILE_RANGE_WRITE); // fsync() reports errors
  sink->unsent_bytes = 0;
  return written;
}

static struct rd_sink *new_sink(void) {
  struct rd_sink *sink = rd_memory_new(1, sizeof *sink);
  sink->fd = sink->now_fd = sink->resolved.directory_fd = -1;
  return sink;
}

static bool is_null(int fd) {
  struct stat status;
  return fstat(fd, &status) == 0 && S_ISCHR(status.st_mode) && status.st_rdev == makedev(1, 3);
}

static bool open_path(struct rd_sink *sink, bool append, struct rd_error *error) {
  if (!rd_resolve_path(&sink->resolved, sink->path, error)) return false;
  if (sink->resolved.exists && !S_ISREG(sink->resolved.status.st_mode)) return open_in_place(sink, error);
  return append ? open_to_append(sink, error) : open_replacement(sink, error);
}

static bool open_replacement(struct rd_sink *sink, struct rd_error *error) {
  sink->atomic_file = rd_atomic_file_open(&sink->resolved, sink->path, error);
  if (sink->atomic_file == NULL) return false;
  sink->fd = rd_atomic_file_fd(sink->atomic_file);
  sink->is_file = true;
  sink->sparse = rd_sparse_file_create(sink->fd);
  return true;
}

static bool open_to_append(struct rd_sink *sink, struct rd_error *error) {
  sink->fd = rd_resolved_path_open(&sink->resolved, O_WRONLY | O_APPEND | O_CREAT | O_EXCL);
  sink->created = sink->fd >= 0;
  if (sink->fd < 0 && errno == EEXIST) sink->fd = rd_resolved_path_open(&sink->resolved, O_WRONLY | O_APPEND);
  struct stat status;
  if (sink->fd < 0 || fstat(sink->fd, &status) < 0) return unwritable(sink, error);
  if (status.st_nlink > 1 && rd_resolved_path_is_shared(&sink->resolved)) return refuse_names(sink, error);
  sink->is_file = sink->appending = true;
  sink->length_before = status.st_size;
  return true;
}

static bool refuse_names(const struct rd_sink *sink, struct rd_error *error) {
  rd_error_set(
      error, RD_CODE_SINK_UNWRITABLE,
      "cannot write %.300s: it has several names (hard links), of which others may have made one in this shared "
      "directory: choose another name",
      sink->path);
  return false;
}

static bool open_in_place(struct rd_sink *sink, struct rd_error *error) {
  if (S_ISFIFO(sink->resolved.status.st_mode)) return true;
  sink->fd = rd_resolved_path_open(&sink->resolved, O_WRONLY);
  if (sink->fd < 0) return unwritable(sink, error);
  if (is_null(sink->fd)) sink->now_fd = fcntl(sink->fd, F_DUPFD_CLOEXEC, 0);
  return true;
}

static bool open_fifo(struct rd_sink *sink, const atomic_bool *stop, struct rd_error *error) {
  while (sink->fd < 0) {
    if (atomic_load(stop)) return stopped(error);
    sink->fd = rd_resolved_path_open(&sink->resolved, O_WRONLY);
    if (sink->fd < 0 && errno != EINTR) return unwritable(sink, error);
  }
  rd_pipe_grow(sink->fd);
  return true;
}

static bool stopped(struct rd_error *error) {
  rd_error_set(error, RD_CODE_ABORTED, "writing was stopped");
  return false;
}

static bool unwritable(const struct rd_sink *sink, struct rd_error *error) {
  enum rd_code code = errno == EPIPE || errno == ECONNRESET ? RD_CODE_CLOSED : RD_CODE_SINK_UNWRITABLE;
  rd_error_set_errno(error, code, "cannot write %.300s", sink->path != NULL ? sink->path : "standard output");
  return false;
}
