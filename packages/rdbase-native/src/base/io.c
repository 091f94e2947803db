// SPDX-License-Identifier: Apache-2.0
#include "base/io.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <stdio.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

ssize_t rd_read_some(int fd, void *bytes, size_t count) {
  ssize_t got;
  do got = read(fd, bytes, count);
  while (got < 0 && errno == EINTR);
  return got;
}

ssize_t rd_write_some(int fd, const void *bytes, size_t count) {
  ssize_t put;
  do put = write(fd, bytes, count);
  while (put < 0 && errno == EINTR);
  return put;
}

int rd_pipe_reopen(int fd, int access) {
  struct stat status;
  char path[32];
  if (fstat(fd, &status) < 0 || !S_ISFIFO(status.st_mode)) return -1;
  snprintf(path, sizeof path, "/proc/self/fd/%d", fd);
  return open(path, access | O_NONBLOCK | O_CLOEXEC);
}

bool rd_write_all(int fd, const void *bytes, size_t count) {
  const unsigned char *next = bytes;
  while (count > 0) {
    ssize_t put = rd_write_some(fd, next, count);
    if (put < 0) {
      if (errno != EAGAIN || rd_wait_fd(fd, POLLOUT, -1) < 0) return false;
      continue;
    }
    next += put;
    count -= (size_t)put;
  }
  return true;
}

// Some file systems (quotas, NFS) report only at close() that data did not fit; closing a duplicate is enough.
bool rd_make_permanent(int fd) {
  if (fsync(fd) < 0) return false;
  int duplicate = fcntl(fd, F_DUPFD_CLOEXEC, 0);
  return duplicate >= 0 && close(duplicate) == 0;
}

int rd_wait_fd(int fd, short events, int timeout_ms) {
  struct pollfd waiting = {.fd = fd, .events = events};
  int64_t deadline_ms = rd_now_ms() + timeout_ms;
  for (;;) {
    int ready = poll(&waiting, 1, timeout_ms);
    if (ready >= 0 || errno != EINTR) return ready;
    if (timeout_ms < 0) continue;
    int64_t left_ms = deadline_ms - rd_now_ms();
    timeout_ms = left_ms > 0 ? (int)left_ms : 0;
  }
}

int64_t rd_now_ms(void) {
  return rd_now_ns() / RD_NS_A_MS;
}

int64_t rd_now_ns(void) {
  struct timespec now;
  clock_gettime(CLOCK_MONOTONIC, &now);
  return now.tv_sec * RD_NS_A_SECOND + now.tv_nsec;
}

int64_t rd_ns_of_ms(int ms) {
  return ms < 0 ? -1 : ms * RD_NS_A_MS;
}

void rd_pipe_grow(int fd) {
  // The kernel refuses if the user's pipes already hold as many pages as an unprivileged user may have.
  (void)fcntl(fd, F_SETPIPE_SZ, RD_PIPE_BYTES);
}

bool rd_set_nonblocking(int fd) {
  int flags = fcntl(fd, F_GETFL);
  return flags >= 0 && fcntl(fd, F_SETFL, flags | O_NONBLOCK) == 0;
}
