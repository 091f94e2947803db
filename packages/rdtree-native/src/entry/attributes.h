// SPDX-License-Identifier: Apache-2.0
// The extended attributes and ACLs of one entry.
#ifndef RD_TREE_ATTRIBUTES_H
#define RD_TREE_ATTRIBUTES_H

#include "stream/stream_writer.h"

// All zeros: no attributes. Free with rd_attributes_clear().
struct rd_attributes {
  unsigned char *bytes; // encoded one after another
  size_t count, room;   // in bytes
};

void rd_attributes_add(struct rd_attributes *attributes, const struct rd_xattr *xattr); // copies `xattr`
void rd_attributes_clear(struct rd_attributes *attributes);
// Gets the attribute at `*at`, which is 0 for the first one, and moves `*at` to the next. A NUL follows the name.
// Returns false at the end.
bool rd_attributes_next(const struct rd_attributes *attributes, size_t *at, struct rd_xattr *xattr);
bool rd_attributes_have_name(const struct rd_attributes *attributes, struct rd_bytes name);
bool rd_attributes_have(const struct rd_attributes *attributes, const struct rd_xattr *xattr); // name and value
// Writes the attributes as records, which come before the record of their entry. Returns false if they cannot be
// written.
bool rd_attributes_put(const struct rd_attributes *attributes, struct rd_stream_writer *writer, struct rd_error *error);

#endif
