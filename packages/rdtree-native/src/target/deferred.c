// SPDX-License-Identifier: Apache-2.0
#include "target/deferred.h"

#include "base/memory.h"
#include "entry/temporary_file.h"

#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

struct rd_deferred {
  FILE *file;
  unsigned char *text;
  size_t room;
};

static FILE *make_file(void);
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
  uint32_t length = (uint32_t)count;
  if (list->file == NULL && (list->file = make_file()) == NULL) return failed("make", error);
  bool is_written = fwrite(&length, sizeof length, 1, list->file) == 1 && fwrite(bytes, 1, count, list->file) == count;
  return is_written || failed("write", error);
}

bool rd_deferred_rewind(struct rd_deferred *list, struct rd_error *error) {
  return list->file == NULL || (fflush(list->file) == 0 && fseek(list->file, 0, SEEK_SET) == 0) ||
         failed("write", error);
}

bool rd_deferred_next(struct rd_deferred *list, const unsigned char **bytes, size_t *count, struct rd_error *error) {
  uint32_t length;
  error->code = RD_CODE_OK;
  if (list->file == NULL) return false;
  if (fread(&length, sizeof length, 1, list->file) != 1) return ferror(list->file) ? failed("read", error) : false;
  if (length + (size_t)1 > list->room) {
    list->room = length + (size_t)1;
    list->text = rd_memory_resize(list->text, list->room, 1);
  }
  if (fread(list->text, 1, length, list->file) != length) return failed("read", error);
  list->text[length] = '\0';
  *bytes = list->text;
  *count = length;
  return true;
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
