// SPDX-License-Identifier: Apache-2.0
// One glob of git's kind: `*`, `?`, `[...]`, backslashes, and `**` between slashes.
#ifndef RD_TREE_GLOB_H
#define RD_TREE_GLOB_H

#include "stream/record.h"

struct rd_glob; // opaque

// NULL: it can match nothing, for a `[` is not closed, a `[:class:]` is unknown, or its last byte is a backslash.
// Free with rd_glob_destroy().
struct rd_glob *rd_glob_create(struct rd_bytes pattern);
void rd_glob_destroy(struct rd_glob *glob); // NULL-safe

// Whether it matches the whole text: bytes, and case matters. Only `**` matches slashes besides a slash itself. The
// time is at most that of the text's length times the pattern's. Any number of threads may call it at once.
bool rd_glob_matches(const struct rd_glob *glob, struct rd_bytes text);

#endif
