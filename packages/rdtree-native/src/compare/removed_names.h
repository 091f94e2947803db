// SPDX-License-Identifier: Apache-2.0
// Removal (--delete): the names that the target's directories have and the source lacks.
#ifndef RD_TREE_REMOVED_NAMES_H
#define RD_TREE_REMOVED_NAMES_H

#include "compare/target_tree.h"
#include "setup/settings.h"

struct rd_removed_names; // opaque

// NULL: a pattern is damaged (RD_CODE_USAGE).
struct rd_removed_names *rd_removed_names_create(const struct rd_tree_settings *settings, struct rd_error *error);
void rd_removed_names_destroy(struct rd_removed_names *removal); // NULL-safe

// The source has this name in the present directory. With `is_directory`, of which the stream then enters it, false
// (RD_CODE_INTERNAL): another source has sent that directory before, and each would remove the other's files.
bool rd_removed_names_note(struct rd_removed_names *removal, struct rd_bytes name, bool is_directory,
                           struct rd_error *error);
// A partial file of this name is needed: its copy is to be continued, or begins.
void rd_removed_names_note_partial(struct rd_removed_names *removal, struct rd_bytes name);

// The stream enters and leaves the directory `name`; empty: the target directory itself, whose names, with those of
// depth 0, are known when the stream ends.
void rd_removed_names_enter(struct rd_removed_names *removal, struct rd_bytes name);
void rd_removed_names_leave(struct rd_removed_names *removal, bool is_whole);

// A name that the source lacks. False: stop.
typedef bool rd_removed_names_found(void *context, struct rd_bytes name, bool is_directory, struct rd_error *error);

// Calls `found` for each of them in the present directory, before rd_removed_names_leave(), or at the end at depth 0.
// None where `is_whole` is false, or names of the directory are not all known. A directory that cannot be listed is a
// `failed` event, and *has_failed. False: `found` returned that.
bool rd_removed_names_list(struct rd_removed_names *removal, const struct rd_target_tree *tree, bool is_whole,
                           rd_removed_names_found *found, void *context, bool *has_failed, struct rd_error *error);

#endif
