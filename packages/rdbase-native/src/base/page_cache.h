// SPDX-License-Identifier: Apache-2.0
// Checks whether a part of a file is in the page cache.
#ifndef RD_BASE_PAGE_CACHE_H
#define RD_BASE_PAGE_CACHE_H

#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>

// Returns true if most of these bytes of a regular file are in the page cache, so that read() only copies; also if the
// kernel does not report it (another user's file, an old kernel). Causes no reads and no readahead.
bool rd_page_cache_has(int fd, off_t offset, size_t bytes);

#endif
