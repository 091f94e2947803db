// SPDX-License-Identifier: Apache-2.0
// A source as the user named it: the directory that contains it, and its name in the stream.
#ifndef RD_TREE_SOURCE_PATH_H
#define RD_TREE_SOURCE_PATH_H

#include <stdbool.h>
#include <stddef.h>

struct rd_source_path {
  char *above; // the directory to open; symbolic links are followed, also if it is one itself
  char *name;  // of the source in that directory and in the stream; empty if the source is that directory itself
};

// Parses a source; a leading `~` or `~/` becomes $HOME, see rd_home_path(). `dir/`, `dir/.`, `.` and `..` are the
// directory itself; in any other path the last name is the source, and is not followed. Returns false, with errno, if
// $HOME is not set. Free with rd_source_path_clear().
bool rd_source_path_parse(const char *text, struct rd_source_path *path);
void rd_source_path_clear(struct rd_source_path *path);

// The `name` of such a path, part of `text`, without $HOME, which another host does not know. NULL: `~`, whose name
// only the source's host knows.
const char *rd_source_path_name(const char *text);

// For messages: returns the length of the part of `text` to which "/" and the names below the source are appended.
size_t rd_source_path_shown(const char *text);

#endif
