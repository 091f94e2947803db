// SPDX-License-Identifier: Apache-2.0
// One glob with the syntax of git: `*`, `?`, `[...]`, backslashes, and `**` between slashes.
#ifndef RD_TREE_GLOB_H
#define RD_TREE_GLOB_H

#include "stream/record.h"

struct rd_glob; // opaque

// Returns NULL if the pattern can match nothing: a `[` is not closed, a `[:class:]` is unknown, or the last byte is a
// backslash. Free with rd_glob_destroy().
struct rd_glob *rd_glob_create(struct rd_bytes pattern);
void rd_glob_destroy(struct rd_glob *glob); // NULL-safe

// Returns true if the glob matches the complete text: by bytes, case-sensitive. Only `**` matches slashes, besides a
// slash itself. The time is proportional to the length of the text times that of the pattern at most. Any number of
// threads may call it at once.
bool rd_glob_matches(const struct rd_glob *glob, struct rd_bytes text);

#endif
