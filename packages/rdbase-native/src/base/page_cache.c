// SPDX-License-Identifier: Apache-2.0
#include "base/page_cache.h"

#include "base/pages.h"

#include <stdint.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

// Since Linux 6.5, with the same number on every architecture; headers may be older.
#ifndef SYS_cachestat
#define SYS_cachestat 451
#endif

struct cached_range {
  uint64_t offset, bytes;
};

struct cached_pages { // of a range
  uint64_t cached, dirty, in_writeback, evicted, recently_evicted;
};

static bool has_last_page(int fd, off_t offset, size_t bytes);

bool rd_page_cache_has(int fd, off_t offset, size_t bytes) {
  struct cached_range range = {.offset = (uint64_t)offset, .bytes = bytes};
  struct cached_pages pages;
  if (syscall(SYS_cachestat, fd, &range, &pages, 0) < 0) return has_last_page(fd, offset, bytes);
  return pages.cached * 2 >= (bytes + rd_page_bytes() - 1) / rd_page_bytes();
}

// Older kernels report only mapped pages, through mincore(). Checking the last page is enough: checking all of them
// takes a tenth of the time of reading them, and the first ones may be there only because of readahead.
static bool has_last_page(int fd, off_t offset, size_t bytes) {
  off_t last = offset + (off_t)bytes - 1;
  size_t page = rd_page_bytes();
  void *mapped = mmap(NULL, page, PROT_NONE, MAP_SHARED, fd, last - last % (off_t)page);
  if (mapped == MAP_FAILED) return true;
  unsigned char state;
  bool has = mincore(mapped, page, &state) < 0 || (state & 1) != 0;
  munmap(mapped, page);
  return has;
}
