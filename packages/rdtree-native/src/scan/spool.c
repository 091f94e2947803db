// SPDX-License-Identifier: Apache-2.0
#include "scan/spool.h"

#include "base/bytes.h"
#include "base/memory.h"
#include "entry/temporary_file.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define LENGTH_BYTES 4u
#define BUFFER_BYTES (LENGTH_BYTES + RD_PATH_MAX_BYTES)

struct rd_spool {
  int fd;                // -1: not created yet
  uint64_t written;      // bytes in the file
  unsigned char *buffer; // the bytes after those
  size_t filled;
  unsigned char *path; // the path that was requested last
};

static bool write_out(struct rd_spool *spool);
static bool read_at(const struct rd_spool *spool, uint64_t at, unsigned char *to, size_t count);

struct rd_spool *rd_spool_create(void) {
  struct rd_spool *spool = rd_memory_new(1, sizeof *spool);
  spool->fd = -1;
  spool->buffer = rd_memory_new(BUFFER_BYTES, 1);
  spool->path = rd_memory_new(RD_PATH_MAX_BYTES, 1);
  return spool;
}

void rd_spool_destroy(struct rd_spool *spool) {
  if (spool == NULL) return;
  if (spool->fd >= 0) close(spool->fd);
  free(spool->buffer);
  free(spool->path);
  free(spool);
}

bool rd_spool_put(struct rd_spool *spool, struct rd_bytes path, uint64_t *at) {
  if (BUFFER_BYTES - spool->filled < LENGTH_BYTES + path.count && !write_out(spool)) return false;
  *at = spool->written + spool->filled;
  rd_put_u32(spool->buffer + spool->filled, (uint32_t)path.count);
  memcpy(spool->buffer + spool->filled + LENGTH_BYTES, path.at, path.count);
  spool->filled += LENGTH_BYTES + path.count;
  return true;
}

bool rd_spool_get(struct rd_spool *spool, uint64_t at, struct rd_bytes *path) {
  unsigned char length[LENGTH_BYTES];
  if (!read_at(spool, at, length, LENGTH_BYTES)) return false;
  *path = (struct rd_bytes){spool->path, rd_get_u32(length)};
  return path->count <= RD_PATH_MAX_BYTES && read_at(spool, at + LENGTH_BYTES, spool->path, path->count);
}

static bool write_out(struct rd_spool *spool) {
  if (spool->fd < 0 && (spool->fd = rd_temporary_file()) < 0) return false;
  for (size_t done = 0; done < spool->filled;) {
    ssize_t count = pwrite(spool->fd, spool->buffer + done, spool->filled - done, (off_t)(spool->written + done));
    if (count < 0 && errno != EINTR) return false;
    done += count > 0 ? (size_t)count : 0;
  }
  spool->written += spool->filled;
  spool->filled = 0;
  return true;
}

static bool read_at(const struct rd_spool *spool, uint64_t at, unsigned char *to, size_t count) {
  if (at >= spool->written) {
    memcpy(to, spool->buffer + (at - spool->written), count);
    return true;
  }
  while (count > 0) {
    ssize_t got = pread(spool->fd, to, count, (off_t)at);
    if (got < 0 && errno == EINTR) continue;
    if (got <= 0) return false;
    to += got;
    at += (uint64_t)got;
    count -= (size_t)got;
  }
  return true;
}
