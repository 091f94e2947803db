// SPDX-License-Identifier: Apache-2.0
// Extended attributes and ACLs of an entry, as requested by the settings.
#ifndef RD_TREE_XATTRS_H
#define RD_TREE_XATTRS_H

#include "entry/attributes.h"
#include "setup/settings.h"

struct rd_xattrs; // opaque: holds the attributes of one entry at a time

// Never returns NULL. `settings` stay the caller's.
struct rd_xattrs *rd_xattrs_create(const struct rd_tree_settings *settings);
void rd_xattrs_destroy(struct rd_xattrs *xattrs); // NULL-safe

// Returns true if the user asked for attributes of this name: ACLs with `acls`; with `xattrs` all others except those
// of the system, Lustre and SELinux, which belong to their file system.
bool rd_xattr_is_asked_for(const struct rd_tree_settings *settings, struct rd_bytes name);
// Returns true if this process can copy them as well: without root, or for a served directory, only ACLs and `user.`.
bool rd_xattr_is_wanted(const struct rd_xattrs *xattrs, struct rd_bytes name);

// Reads the attributes of `name` in the directory `fd`, without following a symbolic link, or of `fd` itself. There are
// none if the settings request none, or the file system does not support them. Returns false, with errno, on failure;
// then there are none either. E2BIG: more than a stream may have for one entry.
bool rd_xattrs_read_name(struct rd_xattrs *xattrs, int fd, const char *name);
bool rd_xattrs_read_fd(struct rd_xattrs *xattrs, int fd);

// The attributes that were read last, valid until the next read.
const struct rd_attributes *rd_xattrs_found(const struct rd_xattrs *xattrs);

#endif
