// SPDX-License-Identifier: Apache-2.0
#include "serve/private_file.h"

#include "base/cleanup.h"
#include "base/io.h"
#include "base/memory.h"

#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>

static bool is_private(const char *path, const struct stat *status, struct rd_error *error);

char *rd_private_file_read(const char *path, size_t most, size_t *bytes, struct rd_error *error) {
  RD_AUTO_CLOSE int fd = open(path, O_RDONLY | O_CLOEXEC | O_NOCTTY | O_NONBLOCK); // a fifo would block
  struct stat status;
  if (fd < 0 || fstat(fd, &status) != 0) {
    rd_error_set_errno(error, RD_CODE_USAGE, "cannot read %.200s", path);
    return NULL;
  }
  if (!is_private(path, &status, error)) return NULL;
  char *text = rd_memory_new(most + 1, 1);
  ssize_t got = 0;
  for (*bytes = 0; *bytes < most && (got = rd_read_some(fd, text + *bytes, most - *bytes)) > 0;) *bytes += (size_t)got;
  char more;
  if (got >= 0 && rd_read_some(fd, &more, 1) == 0) return text;
  if (got < 0)
    rd_error_set_errno(error, RD_CODE_USAGE, "cannot read %.200s", path);
  else
    rd_error_set(error, RD_CODE_USAGE, "%.200s has more than %zu bytes", path, most);
  rd_private_file_free(text, *bytes);
  return NULL;
}

void rd_private_file_free(char *text, size_t bytes) {
  if (text != NULL) explicit_bzero(text, bytes);
  free(text);
}

static bool is_private(const char *path, const struct stat *status, struct rd_error *error) {
  if (!S_ISREG(status->st_mode))
    rd_error_set(error, RD_CODE_USAGE, "%.200s is not a regular file", path);
  else if (status->st_uid != 0 && status->st_uid != geteuid())
    rd_error_set(error, RD_CODE_USAGE, "%.200s belongs to uid %u, which is neither you nor root", path, status->st_uid);
  else if ((status->st_mode & 077) != 0)
    rd_error_set(error, RD_CODE_USAGE, "other users can access %.200s, mode %04o (chmod go= %.200s)", path,
                 status->st_mode & 07777, path);
  else
    return true;
  return false;
}
