// SPDX-License-Identifier: Apache-2.0
// Removes entries of the target that the source lacks, after everything else is in place.
#ifndef RD_TREE_WRITE_REMOVAL_H
#define RD_TREE_WRITE_REMOVAL_H

#include "target/deferred.h"
#include "target/directory.h"

// Keeps `name` of a directory for rd_removal_run(). Returns false if the list cannot be written.
bool rd_removal_add(struct rd_deferred *list, const struct rd_directory *directory, const char *name,
                    struct rd_error *error);
// Removes the entries that were kept, except what patterns exclude in them, and the directories above that. If they are
// more than the settings allow, removes none and emits an event.
// Returns false if the list cannot be read.
bool rd_removal_run(struct rd_write *write, struct rd_deferred *list, const struct rd_directory *top,
                    struct rd_error *error);

// Removes a directory that is in the way of another entry: if it is empty, or with everything in it if the settings
// have `remove` and allow as many removals, and no pattern excludes anything in it. Returns false, with errno, if it
// remains.
bool rd_remove_in_the_way(const struct rd_directory *parent, const char *name);

#endif
