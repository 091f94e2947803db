// SPDX-License-Identifier: Apache-2.0
// Sends a complete tree without a comparison: one thread scans while this one reads the files.
#ifndef RD_TREE_SEND_H
#define RD_TREE_SEND_H

#include "ring/shared_ring.h"
#include "setup/settings.h"

// Writes CONTENTS to `out_fd`, without PLACE: entries go into the target directory. Paths that cannot be read become
// events and records, not failures. `shared`: see rd_tree_read(). Returns false if the copy cannot continue.
bool rd_tree_send(const struct rd_tree_settings *settings, int out_fd, struct rd_shared_ring *shared,
                  struct rd_error *error);

#endif
