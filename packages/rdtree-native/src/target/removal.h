// SPDX-License-Identifier: Apache-2.0
// Removes entries of the target that the source lacks, after all else is in place.
#ifndef RD_TREE_WRITE_REMOVAL_H
#define RD_TREE_WRITE_REMOVAL_H

#include "target/deferred.h"
#include "target/directory.h"

// Keeps `name` of a directory for rd_removal_run().
bool rd_removal_add(struct rd_deferred *list, const struct rd_directory *directory, const char *name,
                    struct rd_error *error);
// Removes what was kept, unless that is more entries than the settings allow: then nothing, and an event. False: the
// list cannot be read.
bool rd_removal_run(struct rd_write *write, struct rd_deferred *list, const struct rd_directory *top,
                    struct rd_error *error);

// A directory where something else is to be: removed when it is empty, or with all that is in it where the settings
// have `remove`. False, with errno: it stays.
bool rd_remove_in_the_way(struct rd_write *write, int directory, const char *name);

#endif
