// SPDX-License-Identifier: Apache-2.0
#include "base/program_paths.h"

#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

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
  static const char *const directories[] = {"/dynamic", ""};
  char here[PATH_MAX];
  if (!rd_program_paths_directory(here, sizeof here, error)) return false;
  for (size_t i = 0; i < sizeof directories / sizeof *directories; i++) {
    int written = snprintf(path, path_bytes, "%s%s/%s", here, directories[i], name);
    if (written > 0 && (size_t)written < path_bytes && access(path, X_OK) == 0) return true;
  }
  rd_error_set(error, RD_CODE_INTERNAL, "there is no %s in %s", name, here);
  return false;
}
