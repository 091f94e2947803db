// SPDX-License-Identifier: Apache-2.0
// The names of users and groups of this host, as /etc/passwd and /etc/group have them.
#ifndef RD_TREE_OWNER_FILES_H
#define RD_TREE_OWNER_FILES_H

#include <stdbool.h>
#include <stdint.h>

// False: no more of them.
typedef bool rd_owner_seen(void *context, uint32_t id, const char *name);

// Calls `seen` for each user or group, in the order of the file, which is read by itself: a static program has no other
// source of names.
void rd_owner_files_read(bool is_group, rd_owner_seen *seen, void *context);

#endif
