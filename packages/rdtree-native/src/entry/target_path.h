// SPDX-License-Identifier: Apache-2.0
// The target as the user named it: its directory, and whether entries go into it or become it.
#ifndef RD_TREE_TARGET_PATH_H
#define RD_TREE_TARGET_PATH_H

#include "stream/record.h"

struct rd_target {
  enum rd_target_mode place;
  char *path;       // a leading ~ replaced, without trailing slashes (except "/")
  int directory_fd; // INTO: the target directory; AS: the directory of `name`; O_PATH, for *at() calls; -1: missing
  const char *name; // AS: the last component of `path`; INTO: NULL
};

// Returns where entries go, which depends on the target and on what is copied: see rd_target_mode. `is_only_file`:
// there is exactly one source, and it is not a directory.
enum rd_target_mode rd_target_place(const char *path, bool is_only_file);

// Opens the directory, following symbolic links in the path; creates nothing. directory_fd is -1 if the directory is
// missing and may be created. Returns false (RD_CODE_SINK_UNWRITABLE) if it is not a directory, cannot be opened, or a
// directory above the target is missing without `make_parents`; then there is nothing to close.
bool rd_target_open(struct rd_target *target, const char *path, enum rd_target_mode place, bool make_parents,
                    struct rd_error *error);
void rd_target_close(struct rd_target *target); // NULL-safe
// The path of the directory that entries of depth 0 go into, there or not. The caller frees it.
char *rd_target_directory_path(const struct rd_target *target);

#endif
