// SPDX-License-Identifier: Apache-2.0
#include "base/relay_memory.h"

#include "base/cleanup.h"
#include "base/pages.h"

#include <sys/mman.h>

int rd_relay_memory_create(struct rd_error *error) {
  RD_AUTO_CLOSE int fd = memfd_create("rdpipe relay", MFD_CLOEXEC);
  if (fd >= 0 && ftruncate(fd, (off_t)rd_page_bytes()) == 0) return rd_take_fd(&fd);
  rd_error_set_errno(error, RD_CODE_INTERNAL, "cannot create the memory of a relay");
  return -1;
}
