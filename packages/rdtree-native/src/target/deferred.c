// SPDX-License-Identifier: Apache-2.0
#include "target/deferred.h"

#include "base/memory.h"
#include "entry/temporary_file.h"

#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

struct rd_deferred {
  FILE *file;
  unsigned char *text; // the last string
  size_t count, room;
};

struct head {
  uint32_t shared, rest; // bytes: of the string before, and those that follow
};

static FILE *make_file(void);
static void make_room(struct rd_deferred *list, size_t bytes);
static bool failed(const char *what, struct rd_error *error);

struct rd_deferred *rd_deferred_create(void) {
  return rd_memory_new(1, sizeof(struct rd_deferred));
}

void rd_deferred_destroy(struct rd_deferred *list) {
  if (list == NULL) return;
  if (list->file != NULL) fclose(list->file);
  free(list->text);
  free(list);
}

bool rd_deferred_add(struct rd_deferred *list, const void *bytes, size_t count, struct rd_error *error) {
  const unsigned char *text = bytes;
  size_t shared = 0;
  if (list->file == NULL && (list->file = make_file()) == NULL) return failed("make", error);
  while (shared < count && shared < list->count && text[shared] == list->text[shared]) shared++;
  struct head head = {(uint32_t)shared, (uint32_t)(count - shared)};
  if (fwrite(&head, sizeof head, 1, list->file) != 1 || fwrite(text + shared, 1, head.rest, list->file) != head.rest)
    return failed("write", error);
  make_room(list, count);
  memcpy(list->text + shared, text + shared, head.rest);
  list->count = count;
  return true;
}

bool rd_deferred_rewind(struct rd_deferred *list, struct rd_error *error) {
  list->count = 0;
  return list->file == NULL || (fflush(list->file) == 0 && fseek(list->file, 0, SEEK_SET) == 0) ||
         failed("write", error);
}

bool rd_deferred_next(struct rd_deferred *list, const unsigned char **bytes, size_t *count, struct rd_error *error) {
  struct head head;
  error->code = RD_CODE_OK;
  if (list->file == NULL) return false;
  if (fread(&head, sizeof head, 1, list->file) != 1) return ferror(list->file) ? failed("read", error) : false;
  list->count = (size_t)head.shared + head.rest;
  make_room(list, list->count);
  if (fread(list->text + head.shared, 1, head.rest, list->file) != head.rest) return failed("read", error);
  list->text[list->count] = '\0';
  *bytes = list->text;
  *count = list->count;
  return true;
}

// For a NUL too.
static void make_room(struct rd_deferred *list, size_t bytes) {
  if (bytes < list->room) return;
  list->room = 2 * bytes + 1;
  list->text = rd_memory_resize(list->text, list->room, 1);
}

static FILE *make_file(void) {
  int fd = rd_temporary_file();
  FILE *file = fd < 0 ? NULL : fdopen(fd, "w+");
  if (file == NULL && fd >= 0) close(fd);
  return file;
}

static bool failed(const char *what, struct rd_error *error) {
  rd_error_set_errno(error, RD_CODE_INTERNAL, "cannot %s a temporary file ($TMPDIR or /tmp)", what);
  return false;
}
