// SPDX-License-Identifier: Apache-2.0
#include "data/sparse_file.h"

#include "base/memory.h"
#include "data/direct_writer.h"
#include "data/zeros.h"

#include <errno.h>
#include <fcntl.h>
#include <stdint.h>
#include <stdlib.h>
#include <unistd.h>

struct rd_sparse_file {
  int fd;
  struct rd_direct_writer *direct; // NULL: it is written through the cache
  bool takes_holes;                // until its file system says that it does not
  off_t written;                   // bytes and holes
  size_t zeros;                    // that come after it and are not written yet
};

static ssize_t write_some(struct rd_sparse_file *sparse, const unsigned char *bytes, size_t count);
static bool write_zeros(struct rd_sparse_file *sparse, bool at_end);
static bool make_hole(struct rd_sparse_file *sparse, size_t bytes);

struct rd_sparse_file *rd_sparse_file_create(int fd) {
  struct rd_sparse_file *sparse = rd_memory_new(1, sizeof *sparse);
  *sparse = (struct rd_sparse_file){.fd = fd, .direct = rd_direct_writer_create(fd), .takes_holes = true};
  return sparse;
}

void rd_sparse_file_destroy(struct rd_sparse_file *sparse) {
  if (sparse == NULL) return;
  rd_direct_writer_destroy(sparse->direct);
  free(sparse);
}

ssize_t rd_sparse_file_write(struct rd_sparse_file *sparse, const unsigned char *bytes, size_t count) {
  off_t at = sparse->written + (off_t)sparse->zeros;
  size_t run = sparse->takes_holes ? rd_zeros_at(at, bytes, count) : 0;
  if (run > 0 && (run == count || sparse->zeros + run >= RD_HOLE_LEAST_BYTES)) {
    sparse->zeros += run;
    return (ssize_t)run;
  }
  if (!write_zeros(sparse, false)) return -1;
  return write_some(sparse, bytes, sparse->takes_holes ? rd_data_at(at, bytes, count) : count);
}

bool rd_sparse_file_finish(struct rd_sparse_file *sparse) {
  while (!write_zeros(sparse, true))
    if (errno != EINTR) return false;
  return sparse->direct == NULL || rd_direct_writer_finish(sparse->direct);
}

void rd_sparse_file_punch(int fd, const unsigned char *bytes, size_t count) {
  off_t start = lseek(fd, 0, SEEK_CUR) - (off_t)count;
  for (size_t at = 0; start >= 0 && at < count;) {
    at += rd_data_at(start + (off_t)at, bytes + at, count - at);
    size_t run = rd_zeros_at(start + (off_t)at, bytes + at, count - at);
    if (run >= RD_HOLE_LEAST_BYTES)
      (void)fallocate(fd, FALLOC_FL_PUNCH_HOLE | FALLOC_FL_KEEP_SIZE, start + (off_t)at, (off_t)run);
    at += run;
  }
}

static ssize_t write_some(struct rd_sparse_file *sparse, const unsigned char *bytes, size_t count) {
  ssize_t written =
      sparse->direct != NULL ? rd_direct_writer_write(sparse->direct, bytes, count) : write(sparse->fd, bytes, count);
  if (written > 0) sparse->written += written;
  return written;
}

// As a hole, but for what is no whole block of it; or as zeros. False, with errno: not all of them.
static bool write_zeros(struct rd_sparse_file *sparse, bool at_end) {
  static const unsigned char zeros[RD_BLOCK_BYTES];
  while (sparse->zeros > 0) {
    size_t before_block = (size_t)(-(uint64_t)sparse->written % RD_BLOCK_BYTES);
    bool is_hole = sparse->takes_holes && sparse->zeros >= before_block + RD_HOLE_LEAST_BYTES;
    if (is_hole && before_block == 0) {
      if (!make_hole(sparse, at_end ? sparse->zeros : sparse->zeros - sparse->zeros % RD_BLOCK_BYTES)) return false;
      continue;
    }
    size_t part = is_hole ? before_block : sparse->zeros;
    ssize_t written = write_some(sparse, zeros, part < sizeof zeros ? part : sizeof zeros);
    if (written < 0) return false;
    sparse->zeros -= (size_t)written;
  }
  return true;
}

// The file is as long as what was written to it at any time. Where it cannot be made longer (a file system that writes
// in order only, a limit) nothing is skipped.
static bool make_hole(struct rd_sparse_file *sparse, size_t bytes) {
  if (sparse->direct != NULL && !rd_direct_writer_finish(sparse->direct)) return false;
  off_t end = sparse->written + (off_t)bytes;
  sparse->takes_holes = ftruncate(sparse->fd, end) == 0 && lseek(sparse->fd, end, SEEK_SET) == end;
  if (!sparse->takes_holes) return true;
  if (sparse->direct != NULL) rd_direct_writer_skip(sparse->direct, (off_t)bytes);
  sparse->written = end;
  sparse->zeros -= bytes;
  return true;
}
