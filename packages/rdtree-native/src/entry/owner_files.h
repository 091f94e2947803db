// SPDX-License-Identifier: Apache-2.0
// The names of this host's users and groups, from /etc/passwd and /etc/group.
#ifndef RD_TREE_OWNER_FILES_H
#define RD_TREE_OWNER_FILES_H

#include <stdbool.h>
#include <stdint.h>

// Returns false to stop.
typedef bool rd_owner_seen(void *context, uint32_t id, const char *name);

// Calls `seen` for each user or group, in the order of the file. Parses the file itself: a static program has no other
// source of names.
void rd_owner_files_read(bool is_group, rd_owner_seen *seen, void *context);

#endif
