// SPDX-License-Identifier: Apache-2.0
// Page-aligned memory, as needed for direct I/O and RDMA devices.
#ifndef RD_BASE_PAGES_H
#define RD_BASE_PAGES_H

#include <stddef.h>
#include <stdlib.h>
#include <unistd.h>

static inline size_t rd_page_bytes(void) {
  return (size_t)sysconf(_SC_PAGESIZE);
}

// Rounds up to whole pages.
static inline size_t rd_pages_round(size_t bytes) {
  size_t page = rd_page_bytes();
  return (bytes + page - 1) / page * page;
}

// Allocates `bytes`, rounded up to whole pages. NULL if there is no memory; free with free().
static inline void *rd_pages_allocate(size_t bytes) {
  return aligned_alloc(rd_page_bytes(), rd_pages_round(bytes));
}

#endif
