// SPDX-License-Identifier: Apache-2.0
#include "write/direct_file.h"

#include <errno.h>
#include <unistd.h>

// A smaller file stays in memory for its next reader, and many of them wait for the disk together.
#define FILE_MIN_BYTES (UINT64_C(64) << 20)
#define WRITE_MIN_BYTES (256u << 10) // for less, waiting for the disk takes longer than a copy

static size_t write_directly(struct rd_target_file *file, uint64_t offset, const unsigned char *bytes, size_t count);
static bool set_direct(struct rd_target_file *file, bool on);

void rd_direct_file_begin(struct rd_target_file *file) {
  bool is_new = file->kind == RD_KIND_UNIQUE || file->kind == RD_KIND_PARTIAL;
  bool awaits_disk = file->write->settings->sync; // otherwise memory is faster
  file->may_be_direct =
      is_new && awaits_disk && file->size >= FILE_MIN_BYTES && rd_direct_io_needs(file->fd, &file->direct);
}

bool rd_direct_file_write(struct rd_target_file *file, uint64_t offset, const unsigned char *bytes, size_t count) {
  size_t written = file->may_be_direct ? write_directly(file, offset, bytes, count) : 0;
  if (written == count) return true;
  rd_direct_file_end(file);
  return rd_target_file_write(file, offset + written, bytes + written, count - written);
}

void rd_direct_file_end(struct rd_target_file *file) {
  if (file->is_direct) (void)set_direct(file, false);
}

// Returns how many bytes it has written; the cache takes the rest, and gives the reason if that fails as well.
static size_t write_directly(struct rd_target_file *file, uint64_t offset, const unsigned char *bytes, size_t count) {
  size_t part = rd_direct_io_part(&file->direct, (off_t)offset, bytes, count), done = 0;
  if (part < WRITE_MIN_BYTES || (!file->is_direct && !set_direct(file, true))) return 0;
  while (done < part) {
    ssize_t written = pwrite(file->fd, bytes + done, part - done, (off_t)(offset + done));
    if (written < 0 && errno == EINTR) continue;
    if (written <= 0) {
      file->may_be_direct = false;
      break;
    }
    done += (size_t)written;
  }
  return done;
}

static bool set_direct(struct rd_target_file *file, bool on) {
  bool is_set = rd_direct_io_set(file->fd, on);
  if (is_set) file->is_direct = on;
  if (!is_set && on) file->may_be_direct = false;
  return is_set;
}
