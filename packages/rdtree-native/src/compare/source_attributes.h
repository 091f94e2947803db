// SPDX-License-Identifier: Apache-2.0
// The XATTR records before an entry, kept until it is decided whether they pass.
#ifndef RD_TREE_SOURCE_ATTRIBUTES_H
#define RD_TREE_SOURCE_ATTRIBUTES_H

#include "entry/xattrs.h"

struct rd_source_attributes; // opaque

// Never NULL.
struct rd_source_attributes *rd_source_attributes_create(void);
void rd_source_attributes_destroy(struct rd_source_attributes *attributes); // NULL-safe

// Copies it. False (RD_CODE_DATA_DAMAGED): one entry has more than a file system can keep.
bool rd_source_attributes_add(struct rd_source_attributes *attributes, const struct rd_xattr *xattr,
                              struct rd_error *error);
void rd_source_attributes_clear(struct rd_source_attributes *attributes);
// As records.
bool rd_source_attributes_put(const struct rd_source_attributes *attributes, struct rd_stream_writer *writer,
                              struct rd_error *error);

// The differences from those that `target` has read: RD_REASON_ACL, RD_REASON_XATTR (compare/difference.h).
unsigned rd_source_attributes_difference(const struct rd_source_attributes *attributes, const struct rd_xattrs *target);

#endif
