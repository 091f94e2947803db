// SPDX-License-Identifier: Apache-2.0
// Work for the end of a copy, kept in a temporary file without a name: memory stays flat.
#ifndef RD_TREE_WRITE_DEFERRED_H
#define RD_TREE_WRITE_DEFERRED_H

#include "base/error.h"

#include <stddef.h>

struct rd_deferred; // opaque: texts of bytes, each of several parts, in the order in which they were added

struct rd_deferred *rd_deferred_create(void);       // never NULL; makes a file when it is needed
void rd_deferred_destroy(struct rd_deferred *list); // NULL-safe

// False (RD_CODE_INTERNAL): the temporary file cannot be written.
bool rd_deferred_add(struct rd_deferred *list, const void *bytes, size_t count, struct rd_error *error);
// From now on it is read, from the beginning. False: as above.
bool rd_deferred_rewind(struct rd_deferred *list, struct rd_error *error);
// The next one, valid until the next call, with a NUL behind it. False: the end, or with error->code other than OK it
// cannot be read.
bool rd_deferred_next(struct rd_deferred *list, const unsigned char **bytes, size_t *count, struct rd_error *error);

#endif
