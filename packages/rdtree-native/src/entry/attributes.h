// SPDX-License-Identifier: Apache-2.0
// Extended attributes and ACLs of an entry, kept from their records until they are set.
#ifndef RD_TREE_ATTRIBUTES_H
#define RD_TREE_ATTRIBUTES_H

#include "stream/record.h"

// Zeroed: none. Free with rd_attributes_clear().
struct rd_attributes {
  unsigned char *bytes; // encoded one after another
  size_t count;         // of bytes
};

// False: an entry may not have so many.
bool rd_attributes_add(struct rd_attributes *attributes, const struct rd_xattr *xattr, struct rd_error *error);
void rd_attributes_clear(struct rd_attributes *attributes);
// The one at `*at`, which begins with 0, and moves it to the next. The name ends with a NUL. False: there is none.
bool rd_attributes_next(const struct rd_attributes *attributes, size_t *at, const char **name, struct rd_bytes *value);
bool rd_attributes_has(const struct rd_attributes *attributes, const char *name);

#endif
