// SPDX-License-Identifier: Apache-2.0
// The open directories from a source down to the current one, each opened relative to its parent.
// One thread enters and leaves directories. A directory that is still in use elsewhere stays open after it was left.
#ifndef RD_TREE_SOURCE_DIRS_H
#define RD_TREE_SOURCE_DIRS_H

#include "stream/record.h"

struct rd_source_dirs; // opaque

// `lists`: opens the directories so that their names can be read. Never returns NULL.
struct rd_source_dirs *rd_source_dirs_create(bool lists);
void rd_source_dirs_destroy(struct rd_source_dirs *directories); // NULL-safe

// Leaves all directories, and goes to the one that contains `source`, which the caller keeps. If that directory cannot
// be opened, directories can still be entered and left.
void rd_source_dirs_begin(struct rd_source_dirs *directories, const char *source);
// The name of the source, at depth 0; empty if the source is that directory itself, whose contents are copied.
struct rd_bytes rd_source_dirs_source_name(const struct rd_source_dirs *directories);

// Enters a directory; it is opened when its descriptor is first requested. `name` must be valid; at depth 0 it may be
// empty.
void rd_source_dirs_enter(struct rd_source_dirs *directories, struct rd_bytes name);
// Goes back to the parent directory.
void rd_source_dirs_leave(struct rd_source_dirs *directories);
unsigned rd_source_dirs_depth(const struct rd_source_dirs *directories); // 0: in the directory that contains the source

// The descriptor of the current directory. Returns -1, with errno, if that directory or one above it cannot be opened.
// Symbolic links are not followed when entering.
int rd_source_dirs_fd(struct rd_source_dirs *directories);

// The path of a name in the current directory, or of the directory itself if the name is empty. Valid until the next
// call.
const char *rd_source_dirs_shown(struct rd_source_dirs *directories, struct rd_bytes name); // for messages
struct rd_bytes rd_source_dirs_below(struct rd_source_dirs *directories,
                                     struct rd_bytes name); // relative to the source

struct rd_source_dir; // one open directory
// Returns a reference to the current directory, and opens it if necessary; any thread may use and release it. Returns
// NULL, with errno, if it cannot be opened.
struct rd_source_dir *rd_source_dirs_keep(struct rd_source_dirs *directories);
int rd_source_dir_fd(const struct rd_source_dir *directory);
void rd_source_dir_release(struct rd_source_dir *directory); // NULL-safe

#endif
