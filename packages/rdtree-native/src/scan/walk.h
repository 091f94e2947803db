// SPDX-License-Identifier: Apache-2.0
// Walks a directory and all below it.
#ifndef RD_TREE_WALK_H
#define RD_TREE_WALK_H

#include "scan/entry_records.h"

// A directory may be entered here: the tree is not too deep. False, which was sent: *is_sent as for rd_send_status().
bool rd_walk_may_enter(struct rd_scan *scan, const char *name, bool *is_sent, struct rd_error *error);

// `name` in the directory at hand, with all that is in it. False: the copy cannot go on.
bool rd_walk(struct rd_scan *scan, const char *name, const struct statx *status, struct rd_error *error);
// All that is in the directory at hand, which stays entered.
bool rd_walk_rest(struct rd_scan *scan, struct rd_error *error);

#endif
