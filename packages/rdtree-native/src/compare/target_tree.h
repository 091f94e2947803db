// SPDX-License-Identifier: Apache-2.0
// The target's directories from its top to the present one, held open while the stream is in them.
#ifndef RD_TREE_TARGET_TREE_H
#define RD_TREE_TARGET_TREE_H

#include "entry/target_path.h"

#include <sys/stat.h>

struct rd_target_tree; // opaque

// `path`: the target as the user named it, for messages. Takes the directory of `target`. Never NULL.
struct rd_target_tree *rd_target_tree_create(const char *path, struct rd_target *target);
void rd_target_tree_destroy(struct rd_target_tree *tree); // NULL-safe

enum rd_entered {
  RD_ENTERED_DIRECTORY,
  RD_ENTERED_NOTHING, // there is nothing of that name, or it cannot be opened
  RD_ENTERED_OTHER,   // it is not a directory
};

// Opens `name`, or the present directory once more where it is empty, and goes into it; without following a symbolic
// link. `status` is the directory's; without one all below it is missing too. False: no more directories can be open
// (RD_CODE_INTERNAL).
bool rd_target_tree_enter(struct rd_target_tree *tree, struct rd_bytes name, struct statx *status,
                          enum rd_entered *entered, struct rd_error *error);
void rd_target_tree_leave(struct rd_target_tree *tree);

// Of the present directory, for *at() calls (O_PATH); -1: it is missing.
int rd_target_tree_fd(const struct rd_target_tree *tree);
int rd_target_tree_top_fd(const struct rd_target_tree *tree);

// The name that the target has for one of the present directory; RD_PLACE_AS: the last one of its path. Valid as long
// as `text`, and the tree.
const char *rd_target_tree_name(const struct rd_target_tree *tree, struct rd_bytes name,
                                char text[RD_NAME_MAX_BYTES + 1]);

// The path of `name` in the present directory, or its own where `name` is empty: for people, beginning with the target;
// below the target (RD_PLACE_AS: the only name); below the directory of depth 0 that it is in, as patterns have it. The
// caller frees it.
char *rd_target_tree_shown_path(const struct rd_target_tree *tree, struct rd_bytes name);
char *rd_target_tree_path(const struct rd_target_tree *tree, struct rd_bytes name);
char *rd_target_tree_path_in_source(const struct rd_target_tree *tree, struct rd_bytes name);

#endif
