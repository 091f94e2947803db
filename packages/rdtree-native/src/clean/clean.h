// SPDX-License-Identifier: Apache-2.0
// Removes files of the source that are permanent at the target.
#ifndef RD_TREE_CLEAN_H
#define RD_TREE_CLEAN_H

#include "setup/settings.h"

// Reads RESULTS. A file that changed since it was read is not removed, and an event. False: the copy cannot go on; also
// where the target names what no copy of these sources has.
bool rd_tree_clean(const struct rd_tree_settings *settings, int in_fd, int out_fd, struct rd_error *error);

#endif
