// SPDX-License-Identifier: Apache-2.0
// Writes a tree to the target: whole files or none, permanent before they have their names.
#ifndef RD_TREE_WRITE_H
#define RD_TREE_WRITE_H

#include "ring/shared_ring.h"
#include "setup/settings.h"

// Reads CONTENTS (role write) or DECISIONS (role copy); writes RESULTS where settings have `clean`. Paths that cannot
// be written are events, no failure. False: the copy cannot continue; if its input ended too early, the files that came
// whole were published. Other temporary files are removed.
bool rd_tree_write(const struct rd_tree_settings *settings, int in_fd, int out_fd, struct rd_shared_ring *shared,
                   struct rd_error *error);

#endif
