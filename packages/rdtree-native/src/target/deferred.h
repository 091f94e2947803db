// SPDX-License-Identifier: Apache-2.0
// Work for the end of a copy, kept in an unnamed temporary file so that memory use stays constant.
// Of each string only what differs from the beginning of the one before is in the file: paths begin alike.
#ifndef RD_TREE_WRITE_DEFERRED_H
#define RD_TREE_WRITE_DEFERRED_H

#include "base/error.h"

#include <stddef.h>

struct rd_deferred; // opaque: byte strings, in the order in which they were added

struct rd_deferred *rd_deferred_create(void);       // never NULL; creates its file when needed
void rd_deferred_destroy(struct rd_deferred *list); // NULL-safe

// Returns false (RD_CODE_INTERNAL) if the temporary file cannot be written.
bool rd_deferred_add(struct rd_deferred *list, const void *bytes, size_t count, struct rd_error *error);
// Starts reading from the beginning; nothing may be added after it. Returns false as above.
bool rd_deferred_rewind(struct rd_deferred *list, struct rd_error *error);
// Gets the next string, which is valid until the next call and followed by a NUL. Returns false at the end, or if it
// cannot be read: then error->code is not RD_CODE_OK.
bool rd_deferred_next(struct rd_deferred *list, const unsigned char **bytes, size_t *count, struct rd_error *error);

#endif
