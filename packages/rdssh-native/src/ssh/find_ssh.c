// SPDX-License-Identifier: Apache-2.0
#include "ssh/find_ssh.h"

#include <limits.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static bool is_other_program(const char *path, const char *own_directory);
static bool directory_of(const char *path, char directory[static PATH_MAX]);

const char *rd_find_ssh(const char *rdpipe, char *path, size_t path_bytes) {
  char own_directory[PATH_MAX];
  const char *rest = getenv("PATH");
  if (rest == NULL || !directory_of(rdpipe, own_directory)) return NULL;
  while (*rest != '\0') {
    size_t bytes = strcspn(rest, ":");
    int written = snprintf(path, path_bytes, "%.*s/ssh", (int)bytes, rest);
    if (bytes > 0 && written > 0 && (size_t)written < path_bytes && is_other_program(path, own_directory)) return path;
    rest += bytes;
    rest += *rest == ':';
  }
  return NULL;
}

static bool is_other_program(const char *path, const char *own_directory) {
  struct stat facts;
  char directory[PATH_MAX];
  if (access(path, X_OK) < 0 || stat(path, &facts) < 0 || !S_ISREG(facts.st_mode)) return false;
  return directory_of(path, directory) && strcmp(directory, own_directory) != 0;
}

// Stores the directory of the file itself; follows links.
static bool directory_of(const char *path, char directory[static PATH_MAX]) {
  if (realpath(path, directory) == NULL) return false;
  char *slash = strrchr(directory, '/');
  if (slash != NULL) *slash = '\0';
  return true;
}
