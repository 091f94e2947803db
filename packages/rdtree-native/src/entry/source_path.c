// SPDX-License-Identifier: Apache-2.0
#include "entry/source_path.h"

#include "base/memory.h"
#include "entry/root.h"

#include <stdlib.h>
#include <string.h>

static const char *name_in(const char *path);

bool rd_source_path_parse(const char *text, struct rd_source_path *path) {
  *path = (struct rd_source_path){0};
  char *whole = rd_home_path(text);
  if (whole == NULL) return false;
  const char *name = name_in(whole);
  path->name = rd_memory_copy(name, strlen(name));
  if (*name == '\0') {
    path->above = whole;
    return true;
  }
  path->above = name == whole ? rd_memory_copy(".", 1) : rd_memory_copy(whole, (size_t)(name - whole));
  free(whole);
  return true;
}

const char *rd_source_path_name(const char *text) {
  return strcmp(text, "~") == 0 ? NULL : name_in(text);
}

void rd_source_path_clear(struct rd_source_path *path) {
  free(path->above);
  free(path->name);
  *path = (struct rd_source_path){0};
}

size_t rd_source_path_shown(const char *text) {
  size_t count = strlen(text);
  while (count > 0 && text[count - 1] == '/') count--;
  return count;
}

// The last component; empty where the path means a directory itself.
static const char *name_in(const char *path) {
  const char *slash = strrchr(path, '/'), *last = slash == NULL ? path : slash + 1;
  return strcmp(last, ".") == 0 || strcmp(last, "..") == 0 ? "" : last;
}
