// SPDX-License-Identifier: Apache-2.0
// What a file system asks of reads and writes past the page cache (O_DIRECT).
#ifndef RD_DATA_DIRECT_IO_H
#define RD_DATA_DIRECT_IO_H

#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>

struct rd_direct_io {
  size_t memory_align; // bytes
  size_t offset_align; // of places in the file, and of counts
};

// False where it cannot be done. Only file systems on disks of this machine say that it can: others (NFS, FUSE, tmpfs)
// have reasons of their own for a cache.
bool rd_direct_io_needs(int fd, struct rd_direct_io *needs);
// How many of these bytes can go directly; 0 when they or `offset` are not aligned.
size_t rd_direct_io_part(const struct rd_direct_io *needs, off_t offset, const void *bytes, size_t count);

#endif
