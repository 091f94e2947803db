// SPDX-License-Identifier: Apache-2.0
// Sends a tree whole, without a comparison: a thread scans it, and what it finds is read at once.
#ifndef RD_TREE_SEND_H
#define RD_TREE_SEND_H

#include "setup/settings.h"

// Writes CONTENTS to `out_fd`, without PLACE: they go into the target directory. Paths that cannot be read are events
// and records, no failure. False: it cannot go on.
bool rd_tree_send(const struct rd_tree_settings *settings, int out_fd, struct rd_error *error);

#endif
