// SPDX-License-Identifier: Apache-2.0
// The open directories from a source down to the present one, each opened in the one above it.
// One thread enters and leaves; a directory that others still use stays open after it was left.
#ifndef RD_TREE_SOURCE_DIRS_H
#define RD_TREE_SOURCE_DIRS_H

#include "stream/record.h"

struct rd_source_dirs; // opaque

// With `lists` their names can be read. Never NULL.
struct rd_source_dirs *rd_source_dirs_create(bool lists);
void rd_source_dirs_destroy(struct rd_source_dirs *directories); // NULL-safe

// Leaves all, and goes to the directory that a source is in; `source` stays the caller's. Even where it cannot be
// opened one may enter and leave.
void rd_source_dirs_begin(struct rd_source_dirs *directories, const char *source);
// The source's name, of depth 0; empty: the directory itself, whose contents are wanted.
struct rd_bytes rd_source_dirs_source_name(const struct rd_source_dirs *directories);

// A directory is opened when its descriptor is first asked for. The name is a valid one; at depth 0 it may be empty.
void rd_source_dirs_enter(struct rd_source_dirs *directories, struct rd_bytes name);
void rd_source_dirs_leave(struct rd_source_dirs *directories);
unsigned rd_source_dirs_depth(const struct rd_source_dirs *directories); // 0: in the directory that the source is in

// Of the directory at hand. -1, with errno: it, or one above it, cannot be opened. No symbolic link is followed.
int rd_source_dirs_fd(struct rd_source_dirs *directories);

// A name in the directory at hand, or with an empty name the directory itself; valid until the next call.
const char *rd_source_dirs_shown(struct rd_source_dirs *directories, struct rd_bytes name); // as people know it
struct rd_bytes rd_source_dirs_below(struct rd_source_dirs *directories,
                                     struct rd_bytes name); // below the source, without its name

struct rd_source_dir; // one of them
// The directory at hand, to be opened if it is not; any thread may use and release it. NULL, with errno.
struct rd_source_dir *rd_source_dirs_keep(struct rd_source_dirs *directories);
int rd_source_dir_fd(const struct rd_source_dir *directory);
void rd_source_dir_release(struct rd_source_dir *directory); // NULL-safe

#endif
