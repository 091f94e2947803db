// SPDX-License-Identifier: Apache-2.0
// Recognizes the destination of a copy inside its own source, which would be copied without end.
#ifndef RD_TREE_DESTINATION_H
#define RD_TREE_DESTINATION_H

#include "setup/settings.h"

#include <sys/stat.h>

struct rd_destination {
  const struct rd_tree_settings *settings; // with a target if that is on this host
  uint64_t device, inode;
  bool is_known, is_new; // new: it was not there when the scan began
};

// Looks for the directory of the target.
void rd_destination_find(struct rd_destination *destination, const struct rd_tree_settings *settings);
// Returns true if `status` is of that directory. If the copy creates it, looks for it again.
bool rd_destination_is(struct rd_destination *destination, const struct statx *status);
// Returns true if the directory `fd` has the journal of this copy: its destination under another name of this host.
// Call after reading the names there, because the copy creates its journal before other entries.
bool rd_destination_has_journal(const struct rd_destination *destination, int fd);
// Returns true if the directory `fd` has an empty directory for journals, in which a copy that begins creates its own
// next. Call before rd_destination_has_journal().
bool rd_destination_may_begin(int fd);

#endif
