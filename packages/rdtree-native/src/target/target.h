// SPDX-License-Identifier: Apache-2.0
// The top of what is written: the target's directory, made where it is missing.
#ifndef RD_TREE_WRITE_TARGET_H
#define RD_TREE_WRITE_TARGET_H

#include "target/directory.h"

// The directory that entries of depth 0 are in. `name`: with RD_PLACE_AS that of the only entry, which the caller
// frees; else NULL. NULL: it cannot be opened or made.
struct rd_directory *rd_write_target(struct rd_write *write, enum rd_target_mode place, char **name,
                                     struct rd_error *error);

#endif
