// SPDX-License-Identifier: Apache-2.0
#include "pattern/listed.h"

#include "base/memory.h"
#include "entry/list_path.h"

#include <stdlib.h>
#include <string.h>

struct rd_listed {
  char *text;   // cut into paths
  char **paths; // sorted
  size_t count, room;
};

// The first bytes of paths, and the byte after them.
struct beginning {
  struct rd_bytes bytes;
  unsigned char next;
};

static void add(struct rd_listed *listed, char *path, size_t count);
static int by_text(const void *one, const void *other);
static bool has(const struct rd_listed *listed, struct rd_bytes bytes, char next);
static int by_beginning(const void *beginning, const void *path);

struct rd_listed *rd_listed_create(const struct rd_tree_settings *settings) {
  if (settings->list == RD_LIST_NONE || settings->list_text == NULL) return NULL;
  struct rd_listed *listed = rd_memory_new(1, sizeof *listed);
  listed->text = rd_memory_copy(settings->list_text, settings->list_bytes);
  char end = settings->list == RD_LIST_NUL ? '\0' : '\n', *last = listed->text + settings->list_bytes;
  for (char *path = listed->text, *after; path < last; path = after + 1) {
    after = memchr(path, end, (size_t)(last - path));
    if (after == NULL) after = last;
    *after = '\0';
    add(listed, path, (size_t)(after - path));
  }
  if (listed->count > 1) qsort(listed->paths, listed->count, sizeof *listed->paths, by_text);
  return listed;
}

void rd_listed_destroy(struct rd_listed *listed) {
  if (listed == NULL) return;
  free(listed->text);
  free(listed->paths);
  free(listed);
}

bool rd_listed_covers(const struct rd_listed *listed, struct rd_bytes path, bool is_directory) {
  if (has(listed, (struct rd_bytes){0}, '\0')) return true; // the source itself
  for (size_t i = 0; i < path.count; i++)
    if (path.at[i] == '/' && has(listed, (struct rd_bytes){path.at, i}, '\0')) return true;
  return has(listed, path, '\0') || (is_directory && has(listed, path, '/'));
}

// Scan reports a path that is none.
static void add(struct rd_listed *listed, char *path, size_t count) {
  bool is_directory;
  if (count == 0 || !rd_list_path_simplify(path, count, &is_directory)) return;
  if (listed->count == listed->room) {
    listed->room = 2 * listed->room + 16;
    listed->paths = rd_memory_resize(listed->paths, listed->room, sizeof *listed->paths);
  }
  listed->paths[listed->count++] = path;
}

static int by_text(const void *one, const void *other) {
  return strcmp(*(char *const *)one, *(char *const *)other);
}

static bool has(const struct rd_listed *listed, struct rd_bytes bytes, char next) {
  struct beginning beginning = {bytes, (unsigned char)next};
  return listed->count > 0 &&
         bsearch(&beginning, listed->paths, listed->count, sizeof *listed->paths, by_beginning) != NULL;
}

static int by_beginning(const void *beginning, const void *path) {
  const struct beginning *wanted = beginning;
  const char *text = *(char *const *)path;
  int order = wanted->bytes.count == 0 ? 0 : strncmp((const char *)wanted->bytes.at, text, wanted->bytes.count);
  return order != 0 ? order : (int)wanted->next - (int)(unsigned char)text[wanted->bytes.count];
}
