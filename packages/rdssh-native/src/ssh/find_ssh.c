// SPDX-License-Identifier: Apache-2.0
#include "ssh/find_ssh.h"

#include <limits.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static bool is_program(const char *path);
static bool is_rdssh(const char *path);

const char *rd_find_ssh(char *path, size_t path_bytes) {
  const char *rest = getenv("PATH");
  while (rest != NULL && *rest != '\0') {
    size_t bytes = strcspn(rest, ":");
    int written = snprintf(path, path_bytes, "%.*s/ssh", (int)bytes, rest);
    bool fits = bytes > 0 && written > 0 && (size_t)written < path_bytes;
    if (fits && is_program(path) && !is_rdssh(path)) return path;
    rest += bytes;
    rest += *rest == ':';
  }
  return NULL;
}

static bool is_program(const char *path) {
  struct stat facts;
  return access(path, X_OK) == 0 && stat(path, &facts) == 0 && S_ISREG(facts.st_mode);
}

// Returns true if the file itself, which `path` may link to, is in a directory of a copy of rdpipe, such as bin.
static bool is_rdssh(const char *path) {
  char file[PATH_MAX], bundle[PATH_MAX + 64];
  if (realpath(path, file) == NULL) return false;
  for (int i = 0; i < 2; i++) {
    char *slash = strrchr(file, '/');
    if (slash != NULL) *slash = '\0';
  }
  snprintf(bundle, sizeof bundle, "%s/build/rdpipe/rdpipe.cjs", file);
  return access(bundle, F_OK) == 0;
}
