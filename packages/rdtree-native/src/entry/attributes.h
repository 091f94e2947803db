// SPDX-License-Identifier: Apache-2.0
// A list of extended attributes and ACLs: those of one entry.
#ifndef RD_TREE_ATTRIBUTES_H
#define RD_TREE_ATTRIBUTES_H

#include "stream/stream_writer.h"

// Zeroed: none. Free with rd_attributes_clear().
struct rd_attributes {
  unsigned char *bytes; // encoded one after another
  size_t count, room;   // of bytes
};

void rd_attributes_add(struct rd_attributes *attributes, const struct rd_xattr *xattr); // copies it
void rd_attributes_clear(struct rd_attributes *attributes);
// The one at `*at`, which begins with 0, and moves it to the next. A NUL follows the name. False: there is none.
bool rd_attributes_next(const struct rd_attributes *attributes, size_t *at, struct rd_xattr *xattr);
bool rd_attributes_have_name(const struct rd_attributes *attributes, struct rd_bytes name);
bool rd_attributes_have(const struct rd_attributes *attributes, const struct rd_xattr *xattr); // name and value
// As records, before that of their entry. False: they cannot be written.
bool rd_attributes_put(const struct rd_attributes *attributes, struct rd_stream_writer *writer, struct rd_error *error);

#endif
