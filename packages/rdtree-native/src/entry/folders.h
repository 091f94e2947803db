// SPDX-License-Identifier: Apache-2.0
// The open directories from a source down to the present one, each opened in the one above it.
// One thread enters and leaves; a directory that others still use stays open after it was left.
#ifndef RD_TREE_FOLDERS_H
#define RD_TREE_FOLDERS_H

#include "stream/record.h"

struct rd_folders; // opaque

// With `lists` their names can be read. Never NULL.
struct rd_folders *rd_folders_create(bool lists);
void rd_folders_destroy(struct rd_folders *folders); // NULL-safe

// Leaves all, and goes to the directory that a source is in; `source` stays the caller's. Even where it cannot be
// opened one may enter and leave.
void rd_folders_begin(struct rd_folders *folders, const char *source);
// The source's name, of depth 0; empty: the directory itself, whose contents are wanted.
struct rd_bytes rd_folders_source_name(const struct rd_folders *folders);

// A directory is opened when its descriptor is first asked for. The name is a valid one; at depth 0 it may be empty.
void rd_folders_enter(struct rd_folders *folders, struct rd_bytes name);
void rd_folders_leave(struct rd_folders *folders);
unsigned rd_folders_depth(const struct rd_folders *folders); // 0: in the directory that the source is in

// Of the directory at hand. -1, with errno: it, or one above it, cannot be opened. No symbolic link is followed.
int rd_folders_fd(struct rd_folders *folders);

// A name in the directory at hand, or with an empty name the directory itself; valid until the next call.
const char *rd_folders_shown(struct rd_folders *folders, struct rd_bytes name); // as people know it
struct rd_bytes rd_folders_below(struct rd_folders *folders,
                                 struct rd_bytes name); // below the source, without its name

struct rd_folder; // one of them
// The directory at hand, to be opened if it is not; any thread may use and release it. NULL, with errno.
struct rd_folder *rd_folders_keep(struct rd_folders *folders);
int rd_folder_fd(const struct rd_folder *folder);
void rd_folder_release(struct rd_folder *folder); // NULL-safe

#endif
