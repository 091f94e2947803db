// SPDX-License-Identifier: Apache-2.0
#include "base/direct_io.h"

#include <fcntl.h>
#include <stdint.h>
#include <sys/stat.h>

#define ALIGN_MAX_BYTES 4096u // the alignment of rdpipe's buffers

bool rd_direct_io_needs(int fd, struct rd_direct_io *needs) {
#ifdef STATX_DIOALIGN // Linux 6.1
  struct statx status;
  if (statx(fd, "", AT_EMPTY_PATH, STATX_DIOALIGN, &status) < 0 || (status.stx_mask & STATX_DIOALIGN) == 0)
    return false;
  *needs = (struct rd_direct_io){status.stx_dio_mem_align, status.stx_dio_offset_align};
  return needs->memory_align > 0 && needs->memory_align <= ALIGN_MAX_BYTES && needs->offset_align > 0 &&
         needs->offset_align <= ALIGN_MAX_BYTES;
#else
  (void)fd, (void)needs;
  return false;
#endif
}

size_t rd_direct_io_part(const struct rd_direct_io *needs, off_t offset, const void *bytes, size_t count) {
  bool aligned = (uintptr_t)bytes % needs->memory_align == 0 && (uint64_t)offset % needs->offset_align == 0;
  return aligned ? count - count % needs->offset_align : 0;
}

bool rd_direct_io_set(int fd, bool on) {
  int flags = fcntl(fd, F_GETFL);
  return flags >= 0 && fcntl(fd, F_SETFL, on ? flags | O_DIRECT : flags & ~O_DIRECT) == 0;
}
