// SPDX-License-Identifier: Apache-2.0
// Entries without content: symbolic links, fifos, sockets, devices; and changes of metadata only.
#ifndef RD_TREE_WRITE_SPECIAL_H
#define RD_TREE_WRITE_SPECIAL_H

#include "target/target_file.h"

// Each takes ownership of the file, and does its work on another thread. `target` is copied.
void rd_special_make_symlink(struct rd_target_file *file, struct rd_bytes target);
void rd_special_make(struct rd_target_file *file, uint64_t device);
void rd_special_set_metadata(struct rd_target_file *file);

#endif
