// SPDX-License-Identifier: Apache-2.0
// A source as the user named it: the directory that it is in, and its name in the stream.
#ifndef RD_TREE_SOURCE_PATH_H
#define RD_TREE_SOURCE_PATH_H

#include <stdbool.h>
#include <stddef.h>

struct rd_source_path {
  char *above; // the directory to open; symbolic links on the way, and it itself, are followed
  char *name;  // of the source in that directory, and in the stream; empty: the source is that directory itself
};

// `~` and `~/` at the beginning are $HOME. `dir/`, `dir/.`, `.` and `..` are a directory itself; of any other path the
// last name is the source, not followed. False, with errno: there is no $HOME. Free with rd_source_path_clear().
bool rd_source_path_parse(const char *text, struct rd_source_path *path);
void rd_source_path_clear(struct rd_source_path *path);

// Names for people: the length of the part of `text` to which "/" and the rest are added.
size_t rd_source_path_shown(const char *text);

#endif
