// SPDX-License-Identifier: Apache-2.0
// What of a file lies in memory.
#ifndef RD_DATA_PAGE_CACHE_H
#define RD_DATA_PAGE_CACHE_H

#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>

// Are most of these bytes of a regular file in the page cache, so that read() is a mere copy? Where the kernel does not
// tell (not our file, an old kernel), true. Looking reads nothing, nor makes the kernel read ahead.
bool rd_page_cache_has(int fd, off_t offset, size_t bytes);

#endif
