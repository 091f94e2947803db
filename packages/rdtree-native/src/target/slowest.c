// SPDX-License-Identifier: Apache-2.0
#include "target/slowest.h"

#include "base/memory.h"
#include "report/events.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>

#define MOST 10

struct list {
  atomic_uint_fast64_t least_ns; // an entry must be slower than this to be kept
  size_t count;
  struct kept {
    char *path;
    uint64_t bytes, ns;
  } at[MOST]; // slowest first
};

struct rd_slowest {
  pthread_mutex_t lock;
  struct list files, directories;
};

static void add(struct list *list, char *path, uint64_t bytes, uint64_t ns);
static void report(const struct list *list, bool is_directories);

struct rd_slowest *rd_slowest_create(void) {
  struct rd_slowest *slowest = rd_memory_new(1, sizeof *slowest);
  pthread_mutex_init(&slowest->lock, NULL);
  return slowest;
}

void rd_slowest_destroy(struct rd_slowest *slowest) {
  if (slowest == NULL) return;
  for (size_t i = 0; i < slowest->files.count; i++) free(slowest->files.at[i].path);
  for (size_t i = 0; i < slowest->directories.count; i++) free(slowest->directories.at[i].path);
  pthread_mutex_destroy(&slowest->lock);
  free(slowest);
}

bool rd_slowest_wants(const struct rd_slowest *slowest, bool is_directory, uint64_t ns) {
  const struct list *list = is_directory ? &slowest->directories : &slowest->files;
  return ns > atomic_load(&list->least_ns);
}

void rd_slowest_add(struct rd_slowest *slowest, bool is_directory, char *path, uint64_t bytes, uint64_t ns) {
  pthread_mutex_lock(&slowest->lock);
  add(is_directory ? &slowest->directories : &slowest->files, path, bytes, ns);
  pthread_mutex_unlock(&slowest->lock);
}

void rd_slowest_report(struct rd_slowest *slowest) {
  report(&slowest->files, false);
  report(&slowest->directories, true);
}

static void add(struct list *list, char *path, uint64_t bytes, uint64_t ns) {
  size_t at = 0;
  while (at < list->count && list->at[at].ns >= ns) at++;
  if (list->count == MOST) free(at == MOST ? path : list->at[--list->count].path);
  if (at == MOST) return;
  for (size_t i = list->count++; i > at; i--) list->at[i] = list->at[i - 1];
  list->at[at] = (struct kept){path, bytes, ns};
  if (list->count == MOST) atomic_store(&list->least_ns, list->at[MOST - 1].ns);
}

static void report(const struct list *list, bool is_directories) {
  struct rd_slow_path paths[MOST];
  for (size_t i = 0; i < list->count; i++)
    paths[i] = (struct rd_slow_path){list->at[i].path, list->at[i].bytes, list->at[i].ns};
  if (list->count > 0) rd_events_slowest(is_directories, paths, list->count);
}
