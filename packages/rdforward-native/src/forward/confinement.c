// SPDX-License-Identifier: Apache-2.0
#include "forward/confinement.h"

#include "base/cleanup.h"
#include "base/memory.h"
#include "sandbox/sandbox.h"

#include <fcntl.h>

static size_t open_directories(const struct rd_forward_listener *listeners, size_t count, int *fds);

void rd_forward_confine(const struct rd_forward_listener *listeners, size_t count, pid_t child) {
  if (!RD_SANDBOX_IS_POSSIBLE) return;
  RD_AUTO_FREE int *fds = rd_memory_new(count + 1, sizeof *fds);
  size_t directories = open_directories(listeners, count, fds);
  rd_landlock_restrict_process(child == 0);
  rd_landlock_restrict_files(&(struct rd_landlock){.directory_fd = -1, .remove_fds = fds, .remove_count = directories});
  while (directories > 0) close(fds[--directories]);
  rd_syscall_filter_install(&(struct rd_syscall_profile){.child = child});
}

// Opens the directories of the local sockets.
static size_t open_directories(const struct rd_forward_listener *listeners, size_t count, int *fds) {
  size_t opened = 0;
  for (size_t i = 0; i < count; i++) {
    if (listeners[i].path[0] == '\0') continue;
    RD_AUTO_FREE char *directory = rd_memory_copy(listeners[i].path, strlen(listeners[i].path));
    *(strrchr(directory, '/') + 1) = '\0';
    fds[opened] = open(directory, O_PATH | O_DIRECTORY | O_CLOEXEC);
    opened += fds[opened] >= 0;
  }
  return opened;
}
