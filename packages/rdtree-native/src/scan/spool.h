// SPDX-License-Identifier: Apache-2.0
// Paths kept for later in an unnamed temporary file, the last ones in memory.
#ifndef RD_TREE_SPOOL_H
#define RD_TREE_SPOOL_H

#include "stream/record.h"

struct rd_spool; // opaque

// Creates the file when it is first needed. Never returns NULL.
struct rd_spool *rd_spool_create(void);
void rd_spool_destroy(struct rd_spool *spool); // NULL-safe

// Keeps a path of at most RD_PATH_MAX_BYTES; *at is its position for rd_spool_get(). Returns false, with errno, on
// failure.
bool rd_spool_put(struct rd_spool *spool, struct rd_bytes path, uint64_t *at);
// Reads a path back; it is valid until the next call. Returns false, with errno, on failure.
bool rd_spool_get(struct rd_spool *spool, uint64_t at, struct rd_bytes *path);

#endif
