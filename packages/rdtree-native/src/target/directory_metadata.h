// SPDX-License-Identifier: Apache-2.0
// The metadata of directories, set when nothing in them changes any more.
#ifndef RD_TREE_WRITE_DIRECTORY_METADATA_H
#define RD_TREE_WRITE_DIRECTORY_METADATA_H

#include "target/deferred.h"
#include "target/directory.h"
#include "target/metadata_setter.h"

// Keeps the metadata; call when the directory is left, so that those in it come first. Returns false if the list cannot
// be written.
bool rd_directory_metadata_add(struct rd_deferred *list, const struct rd_directory *directory,
                               const struct rd_wanted_metadata *wanted, struct rd_error *error);
// Sets the metadata of all directories, also after the copy was stopped. Returns false if the list cannot be read.
bool rd_directory_metadata_run(struct rd_write *write, struct rd_deferred *list, const struct rd_directory *top,
                               struct rd_error *error);

#endif
