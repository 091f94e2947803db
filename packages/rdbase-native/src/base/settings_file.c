// SPDX-License-Identifier: Apache-2.0
#include "base/settings_file.h"

#include "base/cleanup.h"
#include "base/io.h"

#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

int rd_settings_file_create(const json_t *settings, const char *program, struct rd_error *error) {
  RD_AUTO_CLOSE int fd = memfd_create("settings", MFD_CLOEXEC);
  RD_AUTO_FREE char *text = json_dumps(settings, JSON_COMPACT);
  if (text == NULL) abort(); // no memory: see base/memory.h
  if (fd >= 0 && rd_write_all(fd, text, strlen(text)) && lseek(fd, 0, SEEK_SET) == 0) return rd_take_fd(&fd);
  rd_error_set_errno(error, RD_CODE_INTERNAL, "cannot keep the settings of %s", program);
  return -1;
}
