// SPDX-License-Identifier: Apache-2.0
// Extended attributes and ACLs of an entry, as far as the settings ask for them.
#ifndef RD_TREE_XATTRS_H
#define RD_TREE_XATTRS_H

#include "entry/attributes.h"
#include "setup/settings.h"

struct rd_xattrs; // opaque: the attributes of one entry at a time

// Never NULL.
struct rd_xattrs *rd_xattrs_create(const struct rd_tree_settings *settings);
void rd_xattrs_destroy(struct rd_xattrs *xattrs); // NULL-safe

// An attribute of this name is copied: ACLs with `acls`; with `xattrs` those of users, for root all but those of the
// system, of Lustre and of SELinux, which belong to their file system.
bool rd_xattr_is_wanted(const struct rd_xattrs *xattrs, struct rd_bytes name);

// Reads those of `name` in the directory `fd`, of the link itself where it is a symbolic one; or of `fd` itself. None
// where the settings ask for none, or the file system has none. False, with errno; then there are none. E2BIG: they are
// more than a stream may have of one entry.
bool rd_xattrs_read_name(struct rd_xattrs *xattrs, int fd, const char *name);
bool rd_xattrs_read_fd(struct rd_xattrs *xattrs, int fd);

// The attributes that were read last, valid until the next reading.
const struct rd_attributes *rd_xattrs_found(const struct rd_xattrs *xattrs);

#endif
