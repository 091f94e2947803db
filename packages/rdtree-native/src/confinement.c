// SPDX-License-Identifier: Apache-2.0
#include "confinement.h"

#include "base/cleanup.h"
#include "base/memory.h"
#include "entry/source_path.h"
#include "sandbox/sandbox.h"

#include <fcntl.h>
#include <stdlib.h>
#include <unistd.h>

#define SOURCES_MAX 512u // each takes a descriptor for a moment

static void confine_to_sources(const struct rd_tree_settings *settings, enum rd_landlock_tree use);
static void confine_to_reading(void);
static size_t open_sources(const struct rd_tree_settings *settings, int *fds);
static enum rd_syscall_files files_of(enum rd_tree_role role);

void rd_tree_confine(const struct rd_tree_settings *settings, int root_fd) {
  if (!RD_SANDBOX_IS_POSSIBLE) return;
  const struct rd_tree_role_row *row = &rd_tree_roles[settings->role];
  bool only_reads = row->rights == RD_RIGHTS_READ || settings->role == RD_TREE_COMPARE;
  if (root_fd >= 0)
    rd_landlock_restrict_trees(&root_fd, 1, only_reads ? RD_LANDLOCK_READ : RD_LANDLOCK_CHANGE);
  else if (!row->has_target)
    confine_to_sources(settings, only_reads ? RD_LANDLOCK_READ : RD_LANDLOCK_REMOVE);
  else if (only_reads)
    confine_to_reading();
  rd_syscall_filter_install(&(struct rd_syscall_profile){.files = files_of(settings->role), .tree = true});
}

// Confines the process to the directories that contain the sources, or are sources; `unite` has none.
static void confine_to_sources(const struct rd_tree_settings *settings, enum rd_landlock_tree use) {
  if (settings->source_count > SOURCES_MAX) return;
  int *fds = rd_memory_new(settings->source_count + 1, sizeof *fds);
  size_t count = open_sources(settings, fds);
  rd_landlock_restrict_trees(fds, count, use);
  while (count > 0) close(fds[--count]);
  free(fds);
}

// At the target, which is not known before its entries arrive.
static void confine_to_reading(void) {
  RD_AUTO_CLOSE int fd = open("/", O_PATH | O_DIRECTORY | O_CLOEXEC);
  if (fd >= 0) rd_landlock_restrict_trees(&fd, 1, RD_LANDLOCK_READ);
}

// Skips sources that cannot be opened: there is nothing to read.
static size_t open_sources(const struct rd_tree_settings *settings, int *fds) {
  size_t count = 0;
  for (size_t i = 0; i < settings->source_count; i++) {
    struct rd_source_path path;
    if (!rd_source_path_parse(settings->sources[i], &path)) continue;
    fds[count] = open(path.above, O_PATH | O_DIRECTORY | O_CLOEXEC);
    count += fds[count] >= 0;
    rd_source_path_clear(&path);
  }
  return count;
}

// Every program removes the name of its temporary file, on file systems that cannot make one without a name.
static enum rd_syscall_files files_of(enum rd_tree_role role) {
  return role == RD_TREE_WRITE || role == RD_TREE_COPY ? RD_FILES_TREE : RD_FILES_REMOVE;
}
