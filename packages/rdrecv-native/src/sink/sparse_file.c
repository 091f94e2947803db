// SPDX-License-Identifier: Apache-2.0
#include "sink/sparse_file.h"

#include "base/memory.h"
#include "sink/direct_writer.h"

#include <errno.h>
#include <fcntl.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

// Shorter runs of zeros are written. With 4 to 64 KiB the size of a new file system's image was the same within 24 KiB,
// and each hole costs one more write and one more extent.
#define HOLE_MIN_BYTES (64u << 10)
#define BLOCK_BYTES 4096u // block size of most file systems

struct rd_sparse_file {
  int fd;
  struct rd_direct_writer *direct; // NULL: writes go through the cache
  bool takes_holes;                // false once the file system has refused a hole
  off_t written;                   // bytes and holes
  size_t zeros;                    // number of zeros after them, not written yet
};

static ssize_t write_some(struct rd_sparse_file *sparse, const unsigned char *bytes, size_t count);
static bool write_zeros(struct rd_sparse_file *sparse, bool at_end);
static bool make_hole(struct rd_sparse_file *sparse, size_t bytes);
static size_t zeros_at(off_t offset, const unsigned char *bytes, size_t count);
static size_t data_at(off_t offset, const unsigned char *bytes, size_t count);
static size_t rest_of_block(off_t offset, size_t count);
static bool are_zero(const unsigned char *bytes, size_t count);

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
  size_t run = sparse->takes_holes ? zeros_at(at, bytes, count) : 0;
  if (run > 0 && (run == count || sparse->zeros + run >= HOLE_MIN_BYTES)) {
    sparse->zeros += run;
    return (ssize_t)run;
  }
  if (!write_zeros(sparse, false)) return -1;
  return write_some(sparse, bytes, sparse->takes_holes ? data_at(at, bytes, count) : count);
}

bool rd_sparse_file_finish(struct rd_sparse_file *sparse) {
  while (!write_zeros(sparse, true))
    if (errno != EINTR) return false;
  return sparse->direct == NULL || rd_direct_writer_finish(sparse->direct);
}

void rd_sparse_file_punch(int fd, const unsigned char *bytes, size_t count) {
  off_t start = lseek(fd, 0, SEEK_CUR) - (off_t)count;
  for (size_t at = 0; start >= 0 && at < count;) {
    at += data_at(start + (off_t)at, bytes + at, count - at);
    size_t run = zeros_at(start + (off_t)at, bytes + at, count - at);
    if (run >= HOLE_MIN_BYTES)
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

// Writes the pending zeros: whole blocks as a hole if there are enough, the rest as zeros. Returns false, with errno,
// if some could not be written.
static bool write_zeros(struct rd_sparse_file *sparse, bool at_end) {
  static const unsigned char zeros[BLOCK_BYTES];
  while (sparse->zeros > 0) {
    size_t before_block = (size_t)(-(uint64_t)sparse->written % BLOCK_BYTES);
    bool is_hole = sparse->takes_holes && sparse->zeros >= before_block + HOLE_MIN_BYTES;
    if (is_hole && before_block == 0) {
      if (!make_hole(sparse, at_end ? sparse->zeros : sparse->zeros - sparse->zeros % BLOCK_BYTES)) return false;
      continue;
    }
    size_t part = is_hole ? before_block : sparse->zeros;
    ssize_t written = write_some(sparse, zeros, part < sizeof zeros ? part : sizeof zeros);
    if (written < 0) return false;
    sparse->zeros -= (size_t)written;
  }
  return true;
}

// Extends the file over the hole. If the file cannot be extended (a file system that only appends, a limit), nothing is
// skipped.
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

// Returns how many of these bytes, which belong at `offset` of the file, precede the first block that is not all zeros.
// The first and last block may be partial.
static size_t zeros_at(off_t offset, const unsigned char *bytes, size_t count) {
  size_t at = 0;
  while (at < count) {
    size_t part = rest_of_block(offset + (off_t)at, count - at);
    if (!are_zero(bytes + at, part)) break;
    at += part;
  }
  return at;
}

// Returns how many bytes precede the next run of zeros that is long enough for a hole or reaches the last byte.
static size_t data_at(off_t offset, const unsigned char *bytes, size_t count) {
  size_t at = 0;
  while (at < count) {
    size_t run = zeros_at(offset + (off_t)at, bytes + at, count - at);
    if (run >= HOLE_MIN_BYTES || (run > 0 && run == count - at)) break;
    at += run;
    at += rest_of_block(offset + (off_t)at, count - at);
  }
  return at;
}

static size_t rest_of_block(off_t offset, size_t count) {
  size_t rest = BLOCK_BYTES - (size_t)((uint64_t)offset % BLOCK_BYTES);
  return rest < count ? rest : count;
}

// Compares the bytes with themselves, shifted by one: the C library does this with wide registers. In other blocks the
// first or the last byte is usually not zero.
static bool are_zero(const unsigned char *bytes, size_t count) {
  return bytes[0] == 0 && bytes[count - 1] == 0 && memcmp(bytes, bytes + 1, count - 1) == 0;
}
