// SPDX-License-Identifier: Apache-2.0
// Walks a directory and everything below it.
#ifndef RD_TREE_WALK_H
#define RD_TREE_WALK_H

#include "scan/entry_records.h"

// Returns true if a directory may be entered here, because the tree is not too deep. Otherwise sends the failure and
// returns false; *is_sent as for rd_send_status().
bool rd_walk_may_enter(struct rd_scan *scan, const char *name, bool *is_sent, struct rd_error *error);

// Sends the directory `name` of the current directory with everything in it. Returns false if the copy cannot continue.
bool rd_walk(struct rd_scan *scan, const char *name, const struct statx *status, struct rd_error *error);
// Sends everything in the current directory, which stays entered. Returns false if the copy cannot continue.
bool rd_walk_rest(struct rd_scan *scan, struct rd_error *error);

#endif
