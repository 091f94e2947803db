// SPDX-License-Identifier: Apache-2.0
// Work for the end of a copy, kept in a temporary file without a name: memory stays flat.
#ifndef RD_TREE_WRITE_SPOOL_H
#define RD_TREE_WRITE_SPOOL_H

#include "base/error.h"

#include <stddef.h>

struct rd_spool; // opaque: texts of bytes, each of several parts, in the order in which they were added

struct rd_spool *rd_spool_create(void);        // never NULL; makes a file when it is needed
void rd_spool_destroy(struct rd_spool *spool); // NULL-safe

// False (RD_CODE_INTERNAL): the temporary file cannot be written.
bool rd_spool_add(struct rd_spool *spool, const void *bytes, size_t count, struct rd_error *error);
// From now on it is read, from the beginning. False: as above.
bool rd_spool_rewind(struct rd_spool *spool, struct rd_error *error);
// The next one, valid until the next call, with a NUL behind it. False: the end, or with error->code other than OK it
// cannot be read.
bool rd_spool_next(struct rd_spool *spool, const unsigned char **bytes, size_t *count, struct rd_error *error);

#endif
