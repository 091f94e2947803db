// SPDX-License-Identifier: Apache-2.0
// A path of the user's list (--files-from), in the form that records have.
#ifndef RD_TREE_LIST_PATH_H
#define RD_TREE_LIST_PATH_H

#include <stdbool.h>
#include <stddef.h>

// Removes empty names and "." from a path of `count` bytes, which a NUL follows; *is_directory: it is written as that
// of a directory. The source itself becomes "". Returns false, and leaves the path as it is, if it leads out of the
// source or cannot be a path.
bool rd_list_path_simplify(char *path, size_t count, bool *is_directory);

#endif
