// SPDX-License-Identifier: Apache-2.0
// The mount point of an open file's file system, for messages.
#ifndef RD_TREE_MOUNT_NAME_H
#define RD_TREE_MOUNT_NAME_H

#include <stddef.h>

// Writes the mount point to `name`, or "?" if it cannot be found.
void rd_mount_name(int fd, char *name, size_t bytes);

#endif
