// SPDX-License-Identifier: Apache-2.0
// The directories of --link-dest, whose unchanged entries become hard links at the target.
#ifndef RD_TREE_LINK_DEST_H
#define RD_TREE_LINK_DEST_H

#include "entry/target_path.h"
#include "setup/settings.h"

// Opens the directories of the settings with O_PATH, in their order. Relative ones begin in the target directory, also
// if that is still missing. `fds` has room for RD_LINK_DESTS_MAX; the caller closes settings->link_dest_count of them.
// Returns false (RD_CODE_SINK_UNWRITABLE), with none open, if one cannot be opened, or is on another file system than
// the target.
bool rd_link_dests_open(const struct rd_tree_settings *settings, enum rd_target_mode place, int *fds,
                        struct rd_error *error);

#endif
