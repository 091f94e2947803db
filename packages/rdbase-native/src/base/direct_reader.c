// SPDX-License-Identifier: Apache-2.0
#include "base/direct_reader.h"

#include "base/cleanup.h"
#include "base/direct_io.h"
#include "base/memory.h"
#include "base/page_cache.h"

#include <errno.h>
#include <fcntl.h>
#include <stdint.h>
#include <stdio.h>
#include <sys/stat.h>
#include <unistd.h>

#define WORTHWHILE_BYTES (4 << 20) // minimum size of a file
#define READ_MIN_BYTES (64u << 10) // minimum for one read

struct rd_direct_reader {
  int fd;        // the caller's
  int direct_fd; // a second descriptor of the same file
  struct rd_direct_io needs;
};

static bool reopen(struct rd_direct_reader *direct);
static size_t whole_blocks(const struct rd_direct_reader *direct, off_t at, const void *bytes, size_t most);

struct rd_direct_reader *rd_direct_reader_open(int fd) {
  struct rd_direct_reader *direct = rd_memory_new(1, sizeof *direct);
  *direct = (struct rd_direct_reader){.fd = fd, .direct_fd = -1};
  struct stat status;
  bool is_large = fstat(fd, &status) == 0 && S_ISREG(status.st_mode) && status.st_size >= WORTHWHILE_BYTES;
  if (is_large && rd_direct_io_needs(fd, &direct->needs) && reopen(direct)) return direct;
  rd_direct_reader_close(direct);
  return NULL;
}

void rd_direct_reader_close(struct rd_direct_reader *direct) {
  if (direct == NULL) return;
  rd_cleanup_fd(&direct->direct_fd);
  free(direct);
}

ssize_t rd_direct_reader_read(const struct rd_direct_reader *direct, void *bytes, size_t most, off_t at) {
  size_t count = whole_blocks(direct, at, bytes, most);
  if (count < READ_MIN_BYTES || rd_page_cache_has(direct->fd, at, count)) return 0;
  ssize_t got = pread(direct->direct_fd, bytes, count, at);
  return got > 0 ? got : 0;
}

// O_DIRECT on the descriptor itself would also affect the processes that share it.
static bool reopen(struct rd_direct_reader *direct) {
  char link[32];
  snprintf(link, sizeof link, "/proc/self/fd/%d", direct->fd);
  direct->direct_fd = open(link, O_RDONLY | O_DIRECT | O_CLOEXEC | O_NOCTTY);
  return direct->direct_fd >= 0;
}

// Returns how many bytes can be read directly at `at`: whole blocks before the end of the file.
static size_t whole_blocks(const struct rd_direct_reader *direct, off_t at, const void *bytes, size_t most) {
  struct stat status;
  if (fstat(direct->fd, &status) < 0 || at >= status.st_size) return 0;
  uint64_t left = (uint64_t)(status.st_size - at);
  return rd_direct_io_part(&direct->needs, at, bytes, left < most ? (size_t)left : most);
}
