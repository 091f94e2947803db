// SPDX-License-Identifier: Apache-2.0
// Adds the contents of files to the decisions of the target.
#ifndef RD_TREE_READ_H
#define RD_TREE_READ_H

#include "ring/shared_ring.h"
#include "setup/settings.h"

// Reads DECISIONS (role read) or ENTRIES (role send), writes CONTENTS. Files that cannot be read are events and
// records, no failure. `shared`: the ring in which rdsend gets them; NULL: `out_fd` gets them. False: the copy cannot
// go on.
bool rd_tree_read(const struct rd_tree_settings *settings, int in_fd, int out_fd, struct rd_shared_ring *shared,
                  struct rd_error *error);

#endif
