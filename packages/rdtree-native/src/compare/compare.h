// SPDX-License-Identifier: Apache-2.0
// Compares the entries of the source with the target, and keeps what differs.
#ifndef RD_TREE_COMPARE_H
#define RD_TREE_COMPARE_H

#include "setup/settings.h"

// Reads ENTRIES, writes DECISIONS, or the plan as lines of text. False: the copy cannot go on.
bool rd_tree_compare(const struct rd_tree_settings *settings, int in_fd, int out_fd, struct rd_error *error);

#endif
