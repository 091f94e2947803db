// SPDX-License-Identifier: Apache-2.0
#include "entry/source_path.h"

#include "base/memory.h"
#include "entry/root.h"

#include <stdlib.h>
#include <string.h>

bool rd_source_path_parse(const char *text, struct rd_source_path *path) {
  *path = (struct rd_source_path){0};
  char *whole = rd_home_path(text);
  if (whole == NULL) return false;
  const char *slash = strrchr(whole, '/');
  const char *last = slash == NULL ? whole : slash + 1;
  if (*last == '\0' || strcmp(last, ".") == 0 || strcmp(last, "..") == 0) {
    path->above = whole;
    path->name = rd_memory_copy("", 0);
    return true;
  }
  path->name = rd_memory_copy(last, strlen(last));
  path->above = slash == NULL ? rd_memory_copy(".", 1) : rd_memory_copy(whole, (size_t)(last - whole));
  free(whole);
  return true;
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
