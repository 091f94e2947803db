// SPDX-License-Identifier: Apache-2.0
// The target as the user named it: its directory, and whether entries go into it or become it.
#ifndef RD_TREE_TARGET_PATH_H
#define RD_TREE_TARGET_PATH_H

#include "stream/record.h"

struct rd_target {
  enum rd_target_mode place;
  char *path;       // a leading ~ replaced, without slashes at its end (but "/")
  int directory_fd; // INTO: the target directory; AS: the one that `name` is in; O_PATH, for *at() calls; -1: missing
  const char *name; // AS: the last component of `path`; INTO: NULL
};

// Where entries go, by the target alone and what is copied: see rd_target_mode. `is_only_file`: exactly one source, and
// no directory.
enum rd_target_mode rd_target_place(const char *path, bool is_only_file);

// Opens the directory, through symbolic links in the path; creates nothing. A missing directory (of INTO, or that of AS
// with `make_parents`) has directory_fd -1. False (RD_CODE_SINK_UNWRITABLE): it is no directory, cannot be opened, or
// its parent is missing without `make_parents`; nothing is to be closed then.
bool rd_target_open(struct rd_target *target, const char *path, enum rd_target_mode place, bool make_parents,
                    struct rd_error *error);
void rd_target_close(struct rd_target *target); // NULL-safe

#endif
