// SPDX-License-Identifier: Apache-2.0
#include "write/spool.h"

#include "base/memory.h"

#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>

struct rd_spool {
  FILE *file;
  unsigned char *text;
  size_t room;
};

static FILE *make_file(void);
static bool failed(const char *what, struct rd_error *error);

struct rd_spool *rd_spool_create(void) {
  return rd_memory_new(1, sizeof(struct rd_spool));
}

void rd_spool_destroy(struct rd_spool *spool) {
  if (spool == NULL) return;
  if (spool->file != NULL) fclose(spool->file);
  free(spool->text);
  free(spool);
}

bool rd_spool_add(struct rd_spool *spool, const void *bytes, size_t count, struct rd_error *error) {
  uint32_t length = (uint32_t)count;
  if (spool->file == NULL && (spool->file = make_file()) == NULL) return failed("make", error);
  bool is_written =
      fwrite(&length, sizeof length, 1, spool->file) == 1 && fwrite(bytes, 1, count, spool->file) == count;
  return is_written || failed("write", error);
}

bool rd_spool_rewind(struct rd_spool *spool, struct rd_error *error) {
  return spool->file == NULL || (fflush(spool->file) == 0 && fseek(spool->file, 0, SEEK_SET) == 0) ||
         failed("write", error);
}

bool rd_spool_next(struct rd_spool *spool, const unsigned char **bytes, size_t *count, struct rd_error *error) {
  uint32_t length;
  error->code = RD_CODE_OK;
  if (spool->file == NULL) return false;
  if (fread(&length, sizeof length, 1, spool->file) != 1) return ferror(spool->file) ? failed("read", error) : false;
  if (length + (size_t)1 > spool->room) {
    spool->room = length + (size_t)1;
    spool->text = rd_memory_resize(spool->text, spool->room, 1);
  }
  if (fread(spool->text, 1, length, spool->file) != length) return failed("read", error);
  spool->text[length] = '\0';
  *bytes = spool->text;
  *count = length;
  return true;
}

// Where there is no folder for temporary files: memory that may be swapped out.
static FILE *make_file(void) {
  FILE *file = tmpfile();
  if (file != NULL) return file;
  int fd = memfd_create("rdtree", MFD_CLOEXEC);
  return fd < 0 ? NULL : fdopen(fd, "w+");
}

static bool failed(const char *what, struct rd_error *error) {
  rd_error_set_errno(error, RD_CODE_INTERNAL, "cannot %s a temporary file in /tmp", what);
  return false;
}
