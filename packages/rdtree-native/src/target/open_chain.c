// SPDX-License-Identifier: Apache-2.0
#include "target/open_chain.h"

#include "base/cleanup.h"
#include "base/memory.h"
#include "target/directory.h"

#include <stdlib.h>
#include <string.h>

#define LEVELS 64u // between two directories that are kept
#define KEPT_MAX (RD_DEPTH_MAX / LEVELS + 1)

struct rd_open_chain {
  int top;
  char *path; // that was opened last
  struct {
    size_t bytes; // of its path
    int fd;
  } kept[KEPT_MAX];
  size_t count;
};

static void close_others(struct rd_open_chain *chain, const char *path);
static size_t levels_of(const char *path, bool *is_rest);

struct rd_open_chain *rd_open_chain_create(int top) {
  struct rd_open_chain *chain = rd_memory_new(1, sizeof *chain);
  chain->top = top;
  chain->path = rd_memory_copy("", 0);
  return chain;
}

void rd_open_chain_destroy(struct rd_open_chain *chain) {
  if (chain == NULL) return;
  close_others(chain, "");
  free(chain->path);
  free(chain);
}

int rd_open_chain_next(struct rd_open_chain *chain, const char *path) {
  close_others(chain, path);
  free(chain->path);
  chain->path = rd_memory_copy(path, strlen(path));
  for (;;) {
    bool is_rest;
    size_t from = chain->count == 0 ? 0 : chain->kept[chain->count - 1].bytes;
    int above = chain->count == 0 ? chain->top : chain->kept[chain->count - 1].fd;
    const char *below = path + from + (path[from] == '/');
    size_t bytes = levels_of(below, &is_rest);
    if (chain->count == KEPT_MAX) return rd_open_below(above, below);
    RD_AUTO_FREE char *part = rd_memory_copy(below, bytes);
    int fd = rd_open_below(above, part);
    if (fd < 0 || is_rest) return fd;
    chain->kept[chain->count].bytes = (size_t)(below - path) + bytes;
    chain->kept[chain->count++].fd = fd;
  }
}

// Keeps those that are above `path`.
static void close_others(struct rd_open_chain *chain, const char *path) {
  size_t same = 0;
  while (path[same] != '\0' && path[same] == chain->path[same]) same++;
  while (chain->count > 0) {
    size_t bytes = chain->kept[chain->count - 1].bytes;
    if (bytes < same || (bytes == same && (path[same] == '/' || path[same] == '\0'))) return;
    rd_cleanup_fd(&chain->kept[--chain->count].fd);
  }
}

// Returns the length of the first LEVELS names of the path; *is_rest: it has no more.
static size_t levels_of(const char *path, bool *is_rest) {
  const char *end = path;
  for (unsigned level = 0; level < LEVELS && *end != '\0'; level++) end += strcspn(end + 1, "/") + 1;
  *is_rest = *end == '\0';
  return (size_t)(end - path);
}
