// SPDX-License-Identifier: Apache-2.0
// The parts of a file that have data: what lies between them reads as zeros, and is not sent.
#ifndef RD_TREE_HOLES_H
#define RD_TREE_HOLES_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/stat.h>

struct rd_extent {
  uint64_t begin, end;
};

// It has fewer blocks than bytes, so that asking for holes pays.
bool rd_has_holes(const struct statx *status);
// The first part at or after `offset`, below `size`. False: there is none. A file system that knows no holes has data
// everywhere.
bool rd_next_extent(int fd, uint64_t offset, uint64_t size, struct rd_extent *extent);

#endif
