// SPDX-License-Identifier: Apache-2.0
// Makes one stream of the decisions of several targets: what any of them wants is sent once.
#ifndef RD_TREE_UNITE_H
#define RD_TREE_UNITE_H

#include "setup/settings.h"

// Reads the SHARE of each target, by rank, from `settings->width` descriptors from `first_fd` on, in step, and writes
// DECISIONS with WANTS where not all targets want the same. False as rd_stream_next() and rd_stream_put(), and
// (RD_CODE_DATA_DAMAGED) where targets disagree on what the source has.
bool rd_tree_unite(const struct rd_tree_settings *settings, int first_fd, int out_fd, struct rd_error *error);

#endif
