// SPDX-License-Identifier: Apache-2.0
// Entries that a directory of --link-dest has kept from an earlier copy: hard links to them.
#ifndef RD_TREE_WRITE_KEPT_ENTRY_H
#define RD_TREE_WRITE_KEPT_ENTRY_H

#include "target/target_file.h"

// Makes the entry a hard link to the one of the same path below the directory `top_fd`, on another thread. Never
// follows a symbolic link below it, and changes nothing there. Takes the file.
void rd_kept_entry_link(struct rd_target_file *file, int top_fd);

#endif
