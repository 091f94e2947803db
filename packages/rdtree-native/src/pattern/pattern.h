// SPDX-License-Identifier: Apache-2.0
// The patterns that exclude parts of a copy's source, with the syntax and rules of gitignore.
#ifndef RD_TREE_PATTERN_H
#define RD_TREE_PATTERN_H

#include "setup/settings.h"
#include "stream/record.h"

struct rd_patterns; // opaque

// Each pattern is a line of a gitignore file at the root of the source; an include is that line after a `!`. Blank
// lines and comments match nothing. Returns NULL (RD_CODE_USAGE, with a message that names the pattern) if a pattern
// could never match: a `[` is not closed, a `[:class:]` is unknown, or the last byte is a backslash.
struct rd_patterns *rd_patterns_create(const struct rd_tree_settings *settings, struct rd_error *error);
void rd_patterns_destroy(struct rd_patterns *patterns); // NULL-safe

// Returns true if the last pattern that matches is an exclude. `path` is relative to the root of the source, without a
// slash at its beginning or end. The caller must not descend into an excluded directory or ask about paths below it: no
// pattern includes them again. Any number of threads may call it at once.
bool rd_patterns_exclude(const struct rd_patterns *patterns, struct rd_bytes path, bool is_directory);

#endif
