// SPDX-License-Identifier: Apache-2.0
// Hard links: the first name of each file that has several, until all of them were seen.
#ifndef RD_TREE_HARD_LINKS_H
#define RD_TREE_HARD_LINKS_H

#include "stream/record.h"

#include <sys/stat.h>

struct rd_hard_links; // opaque; the names are in a temporary file, 36 bytes each in memory

// Never NULL.
struct rd_hard_links *rd_hard_links_create(void);
void rd_hard_links_destroy(struct rd_hard_links *links); // NULL-safe

// True: the file has come before, as `first`, which is valid until the next call. False: it has no other name, comes
// for the first time and is kept under `path`, or cannot be kept.
bool rd_hard_links_see(struct rd_hard_links *links, const struct statx *status, struct rd_bytes path,
                       struct rd_bytes *first);

#endif
