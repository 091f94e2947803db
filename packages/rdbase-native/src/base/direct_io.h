// SPDX-License-Identifier: Apache-2.0
// The alignment that a file system requires for direct I/O (O_DIRECT).
#ifndef RD_BASE_DIRECT_IO_H
#define RD_BASE_DIRECT_IO_H

#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>

struct rd_direct_io {
  size_t memory_align; // bytes
  size_t offset_align; // of file offsets and of counts
};

// Returns false if direct I/O is not possible. Only file systems on local disks report an alignment; others (NFS, FUSE,
// tmpfs) need the page cache.
bool rd_direct_io_needs(int fd, struct rd_direct_io *needs);
// Returns how many of these bytes can be read or written directly; 0 if `bytes` or `offset` is not aligned.
size_t rd_direct_io_part(const struct rd_direct_io *needs, off_t offset, const void *bytes, size_t count);
// Sets whether the descriptor, which no other process may share, uses direct I/O. Returns false if it cannot be set.
bool rd_direct_io_set(int fd, bool on);

#endif
