// SPDX-License-Identifier: Apache-2.0
#include "base/program_paths.h"

#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

static bool find_in(const char *here, const char *const *directories, const char *name, char *path, size_t path_bytes,
                    struct rd_error *error);

bool rd_program_paths_directory(char *path, size_t path_bytes, struct rd_error *error) {
  ssize_t length = readlink("/proc/self/exe", path, path_bytes - 1);
  if (length < 0) {
    rd_error_set_errno(error, RD_CODE_INTERNAL, "cannot find the directory of this program");
    return false;
  }
  path[length] = '\0';
  *strrchr(path, '/') = '\0';
  return true;
}

bool rd_program_paths_find(const char *name, char *path, size_t path_bytes, struct rd_error *error) {
  static const char *const directories[] = {"/dynamic", "", NULL};
  char here[PATH_MAX];
  return rd_program_paths_directory(here, sizeof here, error) &&
         find_in(here, directories, name, path, path_bytes, error);
}

bool rd_program_paths_find_static(const char *name, char *path, size_t path_bytes, struct rd_error *error) {
  // Of an installation, where the two sets are side by side, and of a host, where the dynamic one is in the static one.
  static const char *const of_dynamic[] = {"/../static", "/..", "", NULL}, *const others[] = {"", NULL};
  char here[PATH_MAX];
  if (!rd_program_paths_directory(here, sizeof here, error)) return false;
  bool is_dynamic = strcmp(strrchr(here, '/') + 1, "dynamic") == 0;
  return find_in(here, is_dynamic ? of_dynamic : others, name, path, path_bytes, error);
}

static bool find_in(const char *here, const char *const *directories, const char *name, char *path, size_t path_bytes,
                    struct rd_error *error) {
  for (const char *const *directory = directories; *directory != NULL; directory++) {
    int written = snprintf(path, path_bytes, "%s%s/%s", here, *directory, name);
    if (written > 0 && (size_t)written < path_bytes && access(path, X_OK) == 0) return true;
  }
  rd_error_set(error, RD_CODE_INTERNAL, "there is no %s in %s", name, here);
  return false;
}
