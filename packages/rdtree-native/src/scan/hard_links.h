// SPDX-License-Identifier: Apache-2.0
// Hard links: keeps the first name of each file with several names until all of them were seen.
#ifndef RD_TREE_HARD_LINKS_H
#define RD_TREE_HARD_LINKS_H

#include "stream/record.h"

#include <sys/stat.h>

struct rd_hard_links; // opaque; takes 36 bytes of memory per file; the names are in a temporary file

// Never returns NULL.
struct rd_hard_links *rd_hard_links_create(void);
void rd_hard_links_destroy(struct rd_hard_links *links); // NULL-safe

// Returns true if the file was seen before; *first is the path that it had then, valid until the next call. Returns
// false if the file has only this name, is seen for the first time (`path` is then kept), or its path cannot be kept or
// read back.
bool rd_hard_links_see(struct rd_hard_links *links, const struct statx *status, struct rd_bytes path,
                       struct rd_bytes *first);

#endif
