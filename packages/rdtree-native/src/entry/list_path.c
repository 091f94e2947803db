// SPDX-License-Identifier: Apache-2.0
#include "entry/list_path.h"

#include "stream/record.h"

#include <string.h>

static bool is_below(const char *path);

bool rd_list_path_simplify(char *path, size_t count, bool *is_directory) {
  if (strlen(path) != count || !is_below(path)) return false;
  char *to = path;
  *is_directory = false;
  for (const char *name = path; *name != '\0';) {
    size_t bytes = strcspn(name, "/");
    bool is_name = bytes > 1 || (bytes == 1 && *name != '.');
    if (is_name && to != path) *to++ = '/';
    if (is_name) memmove(to, name, bytes);
    to += is_name ? bytes : 0;
    name += bytes;
    *is_directory = !is_name || *name == '/';
    name += *name == '/';
  }
  *to = '\0';
  return true;
}

static bool is_below(const char *path) {
  if (*path == '/') return false;
  for (const char *name = path; *name != '\0'; name += strspn(name, "/")) {
    size_t count = strcspn(name, "/");
    if (count > RD_NAME_MAX_BYTES || (count == 2 && memcmp(name, "..", 2) == 0)) return false;
    name += count;
  }
  return true;
}
