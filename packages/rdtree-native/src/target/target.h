// SPDX-License-Identifier: Apache-2.0
// The top of the written tree: the target directory, created if it is missing.
#ifndef RD_TREE_WRITE_TARGET_H
#define RD_TREE_WRITE_TARGET_H

#include "target/directory.h"

// Returns the directory for entries of depth 0. *name: with RD_PLACE_AS, the name for the only entry, which the caller
// frees; otherwise NULL. Returns NULL if the directory cannot be opened or created.
struct rd_directory *rd_write_target(struct rd_write *write, enum rd_target_mode place, char **name,
                                     struct rd_error *error);

#endif
