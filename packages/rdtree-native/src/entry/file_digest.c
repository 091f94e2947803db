// SPDX-License-Identifier: Apache-2.0
#include "entry/file_digest.h"

#include "base/cleanup.h"
#include "base/digest.h"
#include "base/memory.h"

#include <fcntl.h>
#include <sys/stat.h>

#define BUFFER_BYTES (256u << 10) // fits in the processor's cache

static bool digest_range(int fd, uint64_t offset, uint64_t bytes, struct rd_digest *digest);

bool rd_file_digest(int fd, uint64_t offset, uint64_t bytes, unsigned char digest[RD_DIGEST_TREE_BYTES]) {
  struct rd_error error;
  struct rd_digest *running = rd_digest_create(&error);
  errno = ENOMEM;
  bool is_read = running != NULL && digest_range(fd, offset, bytes, running);
  if (is_read) rd_digest_value(running, digest);
  int number = errno;
  rd_digest_destroy(running);
  errno = number;
  return is_read;
}

int rd_file_open(int directory_fd, const char *name) {
  struct stat status;
  RD_AUTO_CLOSE int fd = openat(directory_fd, name, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_NOCTTY | O_CLOEXEC);
  if (fd < 0 || fstat(fd, &status) < 0) return -1;
  if (S_ISREG(status.st_mode)) return rd_take_fd(&fd);
  errno = ESTALE;
  return -1;
}

static bool digest_range(int fd, uint64_t offset, uint64_t bytes, struct rd_digest *digest) {
  size_t room = bytes < BUFFER_BYTES ? (size_t)bytes : BUFFER_BYTES;
  RD_AUTO_FREE unsigned char *buffer = rd_memory_new(room + 1, 1);
  bool is_all = bytes == UINT64_MAX;
  while (bytes > 0) {
    size_t wanted = bytes < room ? (size_t)bytes : room;
    ssize_t count = pread(fd, buffer, wanted, (off_t)offset);
    if (count < 0 && errno == EINTR) continue;
    if (count == 0 && is_all) return true;
    if (count == 0) errno = 0;
    if (count <= 0) return false;
    rd_digest_update(digest, buffer, (size_t)count);
    offset += (uint64_t)count;
    bytes -= (uint64_t)count;
  }
  return true;
}
