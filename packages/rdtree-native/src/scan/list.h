// SPDX-License-Identifier: Apache-2.0
// Sends the paths of a list, below one source.
#ifndef RD_TREE_LIST_H
#define RD_TREE_LIST_H

#include "scan/entry_records.h"

// The source was entered. Reads the list from `fd` as it comes; each path with the directories that it is in. False:
// the list cannot be read, or the copy cannot go on.
bool rd_list_send(struct rd_scan *scan, int fd, struct rd_error *error);

#endif
