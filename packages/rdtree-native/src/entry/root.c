// SPDX-License-Identifier: Apache-2.0
#include "entry/root.h"

#include <fcntl.h>
#include <linux/openat2.h>
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

int rd_root_open(const char *path, int flags) {
  if (root_fd < 0) return open(path, flags | O_CLOEXEC);
  struct open_how how = {.flags = (unsigned)(flags | O_CLOEXEC), .resolve = RESOLVE_IN_ROOT | RESOLVE_NO_MAGICLINKS};
  return (int)syscall(SYS_openat2, root_fd, below(path), &how, sizeof how);
}

// The home of a client is the served directory itself.
static const char *below(const char *path) {
  if (path[0] == '~' && (path[1] == '/' || path[1] == '\0')) path++;
  path += strspn(path, "/");
  return *path != '\0' ? path : ".";
}
