// SPDX-License-Identifier: Apache-2.0
// Sends the paths of a list, all of them below one source.
#ifndef RD_TREE_LIST_H
#define RD_TREE_LIST_H

#include "scan/entry_records.h"

// Reads the list from the settings and `fd`, as it arrives, and sends each path with the directories above it. The
// source must have been entered. Returns false if the list cannot be read or the copy cannot continue.
bool rd_list_send(struct rd_scan *scan, int fd, struct rd_error *error);

#endif
