// SPDX-License-Identifier: Apache-2.0
// The paths of the user's list (--files-from): tells which entries it covers.
#ifndef RD_TREE_LISTED_H
#define RD_TREE_LISTED_H

#include "setup/settings.h"
#include "stream/record.h"

struct rd_listed; // opaque

// NULL: the settings have no text of a list. Takes as much memory as that text, and a pointer for each path.
struct rd_listed *rd_listed_create(const struct rd_tree_settings *settings);
void rd_listed_destroy(struct rd_listed *listed); // NULL-safe

// Returns true for a listed path, for what is below one, and for a directory above one.
bool rd_listed_covers(const struct rd_listed *listed, struct rd_bytes path, bool is_directory);

#endif
