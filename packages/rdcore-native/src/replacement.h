// SPDX-License-Identifier: Apache-2.0
// A file written beside another, which it replaces only when it is whole.
#ifndef RD_REPLACEMENT_H
#define RD_REPLACEMENT_H

#include "error.h"
#include "place.h"

struct rd_replacement; // opaque

// Opens a file without a name, or with a hidden one where the file system cannot do that, in the directory of `place`,
// where a regular file is or nothing. It gets what belongs to the old file beside its bytes (file_metadata.h), and the
// mode of a new one when there is none; until rd_replacement_commit() only its owner may open it. `place` and `path`,
// which is for messages, are the caller's and outlive it. NULL on failure (RD_CODE_SINK_UNWRITABLE).
struct rd_replacement *rd_replacement_open(const struct rd_place *place, const char *path, struct rd_error *error);
void rd_replacement_destroy(struct rd_replacement *replacement); // NULL-safe; removes what was not committed

int rd_replacement_fd(const struct rd_replacement *replacement);
// Writes it to the disk and puts it in the place of the target.
bool rd_replacement_commit(struct rd_replacement *replacement, struct rd_error *error);

#endif
