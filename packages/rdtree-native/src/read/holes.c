// SPDX-License-Identifier: Apache-2.0
#include "read/holes.h"

#include <errno.h>
#include <unistd.h>

#define BLOCK_BYTES 512u // of stx_blocks

bool rd_has_holes(const struct statx *status) {
  return status->stx_blocks * BLOCK_BYTES < status->stx_size;
}

bool rd_next_extent(int fd, uint64_t offset, uint64_t size, struct rd_extent *extent) {
  if (offset >= size) return false;
  off_t begin = lseek(fd, (off_t)offset, SEEK_DATA);
  if (begin < 0 && errno == ENXIO) return false;
  off_t end = begin < 0 ? -1 : lseek(fd, begin, SEEK_HOLE);
  *extent = end < 0 ? (struct rd_extent){offset, size} : (struct rd_extent){(uint64_t)begin, (uint64_t)end};
  if (extent->end > size) extent->end = size;
  return extent->begin < extent->end;
}
