// SPDX-License-Identifier: Apache-2.0
#include "scan/names.h"

#include "base/memory.h"

#include <dirent.h>
#include <stdlib.h>
#include <string.h>

#define NAMES_AT_ONCE 16384u
#define BUFFER_BYTES (64u << 10)

static void add_all(struct rd_names *names, const char *buffer, size_t bytes);
static void add(struct rd_names *names, const char *name, unsigned char type);
static int by_bytes(const void *one, const void *other, void *text);

bool rd_names_read(struct rd_names *names, int fd) {
  _Alignas(struct dirent64) char buffer[BUFFER_BYTES];
  names->count = names->text_bytes = 0;
  while (names->count < NAMES_AT_ONCE) {
    ssize_t bytes = getdents64(fd, buffer, sizeof buffer);
    if (bytes < 0) return false;
    if (bytes == 0) break;
    add_all(names, buffer, (size_t)bytes);
  }
  if (names->count > 1) qsort_r(names->at, names->count, sizeof *names->at, by_bytes, names->text);
  return true;
}

const char *rd_names_text(const struct rd_names *names, size_t index) {
  return names->text + names->at[index].offset;
}

void rd_names_keep_directories(struct rd_names *names) {
  struct rd_names kept = {0};
  for (size_t i = 0; i < names->count; i++)
    if (names->at[i].type == DT_DIR) add(&kept, rd_names_text(names, i), DT_DIR);
  rd_names_clear(names);
  *names = kept;
}

void rd_names_clear(struct rd_names *names) {
  free(names->at);
  free(names->text);
  *names = (struct rd_names){0};
}

static void add_all(struct rd_names *names, const char *buffer, size_t bytes) {
  for (size_t at = 0; at < bytes;) {
    const struct dirent64 *entry = (const struct dirent64 *)(const void *)(buffer + at);
    at += entry->d_reclen;
    if (strcmp(entry->d_name, ".") != 0 && strcmp(entry->d_name, "..") != 0) add(names, entry->d_name, entry->d_type);
  }
}

static void add(struct rd_names *names, const char *name, unsigned char type) {
  size_t bytes = strlen(name) + 1;
  if (names->text_room - names->text_bytes < bytes) {
    names->text_room = 2 * names->text_room + 4 * bytes;
    names->text = rd_memory_resize(names->text, names->text_room, 1);
  }
  if (names->count == names->room) {
    names->room = 2 * names->room + 4;
    names->at = rd_memory_resize(names->at, names->room, sizeof *names->at);
  }
  names->at[names->count++] = (struct rd_found_name){(uint32_t)names->text_bytes, type};
  memcpy(names->text + names->text_bytes, name, bytes);
  names->text_bytes += bytes;
}

static int by_bytes(const void *one, const void *other, void *text) {
  const struct rd_found_name *a = one, *b = other;
  const char *base = text;
  return strcmp(base + a->offset, base + b->offset);
}
