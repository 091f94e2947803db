// SPDX-License-Identifier: Apache-2.0
#include "cold_file.h"

#include "cleanup.h"
#include "direct_io.h"
#include "page_cache.h"

#include <errno.h>
#include <fcntl.h>
#include <stdint.h>
#include <stdio.h>
#include <sys/stat.h>

#define WORTHWHILE_BYTES (4 << 20)   // of a file
#define READ_LEAST_BYTES (64u << 10) // at once

struct rd_cold_file {
  int fd;        // whose offset counts
  int direct_fd; // of the same file
  struct rd_direct_io needs;
};

static bool reopen(struct rd_cold_file *cold);
static size_t whole_blocks(const struct rd_cold_file *cold, off_t at, const void *bytes, size_t most);

struct rd_cold_file *rd_cold_file_open(int fd) {
  struct rd_cold_file *cold = calloc(1, sizeof *cold);
  if (cold == NULL) return NULL;
  *cold = (struct rd_cold_file){.fd = fd, .direct_fd = -1};
  struct stat status;
  bool is_large = fstat(fd, &status) == 0 && S_ISREG(status.st_mode) && status.st_size >= WORTHWHILE_BYTES;
  if (is_large && rd_direct_io_needs(fd, &cold->needs) && reopen(cold)) return cold;
  rd_cold_file_close(cold);
  return NULL;
}

void rd_cold_file_close(struct rd_cold_file *cold) {
  if (cold == NULL) return;
  rd_cleanup_fd(&cold->direct_fd);
  free(cold);
}

ssize_t rd_cold_file_read(struct rd_cold_file *cold, void *bytes, size_t most) {
  off_t at = lseek(cold->fd, 0, SEEK_CUR);
  size_t count = at < 0 ? 0 : whole_blocks(cold, at, bytes, most);
  if (count < READ_LEAST_BYTES || rd_page_cache_has(cold->fd, at, count)) return 0;
  ssize_t got = pread(cold->direct_fd, bytes, count, at);
  return got > 0 && lseek(cold->fd, at + got, SEEK_SET) >= 0 ? got : 0;
}

// The descriptor itself is shared with others, who may not want it so.
static bool reopen(struct rd_cold_file *cold) {
  char link[32];
  snprintf(link, sizeof link, "/proc/self/fd/%d", cold->fd);
  cold->direct_fd = open(link, O_RDONLY | O_DIRECT | O_CLOEXEC | O_NOCTTY);
  return cold->direct_fd >= 0;
}

// What can be read at once: up to the last block, which may be a part of one.
static size_t whole_blocks(const struct rd_cold_file *cold, off_t at, const void *bytes, size_t most) {
  struct stat status;
  if (fstat(cold->fd, &status) < 0 || at >= status.st_size) return 0;
  uint64_t left = (uint64_t)(status.st_size - at);
  return rd_direct_io_part(&cold->needs, at, bytes, left < most ? (size_t)left : most);
}
