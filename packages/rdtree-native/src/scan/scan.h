// SPDX-License-Identifier: Apache-2.0
// Scans the sources: sends their directories, metadata and links as a stream of entries.
#ifndef RD_TREE_SCAN_H
#define RD_TREE_SCAN_H

#include "setup/settings.h"

// Writes ENTRIES to `out_fd`; reads the list of paths from `in_fd` if the settings have one. Paths that cannot be read
// become events and records, not failures. Returns false if the copy cannot continue.
bool rd_tree_scan(const struct rd_tree_settings *settings, int in_fd, int out_fd, struct rd_error *error);

#endif
