// SPDX-License-Identifier: Apache-2.0
// Paths that are kept for later in a temporary file without a name; a few of them in memory.
#ifndef RD_TREE_SPOOL_H
#define RD_TREE_SPOOL_H

#include "stream/record.h"

struct rd_spool; // opaque

// The file is made when it is first needed. Never NULL.
struct rd_spool *rd_spool_create(void);
void rd_spool_destroy(struct rd_spool *spool); // NULL-safe

// Keeps a path; *at finds it again. False, with errno.
bool rd_spool_put(struct rd_spool *spool, struct rd_bytes path, uint64_t *at);
// Valid until the next call. False, with errno.
bool rd_spool_get(struct rd_spool *spool, uint64_t at, struct rd_bytes *path);

#endif
