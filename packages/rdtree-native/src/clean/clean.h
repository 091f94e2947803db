// SPDX-License-Identifier: Apache-2.0
// Removes files of the source that are permanent at the target.
#ifndef RD_TREE_CLEAN_H
#define RD_TREE_CLEAN_H

#include "setup/settings.h"

// Reads RESULTS. A file that changed since it was read is kept, with an event. Returns false if the copy cannot
// continue, also if the target names an entry that no copy of these sources has.
bool rd_tree_clean(const struct rd_tree_settings *settings, int in_fd, int out_fd, struct rd_error *error);

#endif
