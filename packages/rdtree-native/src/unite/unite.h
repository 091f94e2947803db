// SPDX-License-Identifier: Apache-2.0
// Combines the decisions of several targets: an entry that any of them wants is sent once.
#ifndef RD_TREE_UNITE_H
#define RD_TREE_UNITE_H

#include "setup/settings.h"

// Reads the SHARE of each target, in step, from `settings->width` descriptors, starting at `first_fd` and ordered by
// rank. Writes DECISIONS, with WANTS if not all targets want the same. Returns false as rd_stream_next() and
// rd_stream_put() do, and (RD_CODE_DATA_DAMAGED) if targets disagree about the records of the source.
bool rd_tree_unite(const struct rd_tree_settings *settings, int first_fd, int out_fd, struct rd_error *error);

#endif
