// SPDX-License-Identifier: Apache-2.0
#include "entry/source_path.h"

#include "base/memory.h"
#include "entry/root.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

static char *expand(const char *text);

bool rd_source_path_parse(const char *text, struct rd_source_path *path) {
  *path = (struct rd_source_path){0};
  char *whole = expand(text);
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

// NULL, with errno.
static char *expand(const char *text) {
  if (rd_root_is_set() || text[0] != '~' || (text[1] != '\0' && text[1] != '/'))
    return rd_memory_copy(text, strlen(text));
  const char *home = getenv("HOME");
  if (home == NULL || *home == '\0') {
    errno = ENOENT;
    return NULL;
  }
  size_t home_bytes = strlen(home), rest_bytes = strlen(text + 1);
  char *whole = rd_memory_new(home_bytes + rest_bytes + 1, 1);
  memcpy(whole, home, home_bytes);
  memcpy(whole + home_bytes, text + 1, rest_bytes);
  return whole;
}
