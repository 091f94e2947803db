// SPDX-License-Identifier: Apache-2.0
#include "entry/root.h"

#include "base/cleanup.h"
#include "base/memory.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/openat2.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

static const char *below(const char *path);

static int root_fd = -1;

void rd_root_set(int fd) {
  root_fd = fd;
}

bool rd_root_is_set(void) {
  return root_fd >= 0;
}

char *rd_home_path(const char *path) {
  const char *home = getenv("HOME");
  bool is_home = path[0] == '~' && (path[1] == '\0' || path[1] == '/');
  if (!is_home || rd_root_is_set()) return rd_memory_copy(path, strlen(path));
  errno = ENOENT;
  if (home == NULL || *home == '\0') return NULL;
  size_t bytes = strlen(home) + strlen(path);
  char *whole = rd_memory_new(bytes, 1);
  snprintf(whole, bytes, "%s%s", home, path + 1);
  return whole;
}

int rd_root_open(const char *path, int flags) {
  if (root_fd < 0) return open(path, flags | O_CLOEXEC);
  struct open_how how = {.flags = (unsigned)(flags | O_CLOEXEC), .resolve = RESOLVE_IN_ROOT | RESOLVE_NO_MAGICLINKS};
  return (int)syscall(SYS_openat2, root_fd, below(path), &how, sizeof how);
}

bool rd_root_stat(const char *path, struct stat *status) {
  RD_AUTO_CLOSE int fd = rd_root_open(path, O_PATH);
  return fd >= 0 && fstat(fd, status) == 0;
}

bool rd_root_mkdir(const char *path, mode_t mode) {
  const char *slash = strrchr(path, '/');
  if (root_fd < 0 || slash == NULL) return mkdirat(root_fd < 0 ? AT_FDCWD : root_fd, path, mode) == 0;
  RD_AUTO_FREE char *parent = rd_memory_copy(path, (size_t)(slash + 1 - path));
  RD_AUTO_CLOSE int fd = rd_root_open(parent, O_PATH | O_DIRECTORY);
  return fd >= 0 && mkdirat(fd, slash + 1, mode) == 0;
}

// `~` is the served directory itself.
static const char *below(const char *path) {
  if (path[0] == '~' && (path[1] == '/' || path[1] == '\0')) path++;
  path += strspn(path, "/");
  return *path != '\0' ? path : ".";
}
