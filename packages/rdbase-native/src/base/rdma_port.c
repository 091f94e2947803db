// SPDX-License-Identifier: Apache-2.0
#include "base/rdma_port.h"

#include "base/sysfs.h"

#include <glob.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>

#define ACTIVE "4:" // the kernel's number of the state; its name follows

static bool is_active(const char *path);

bool rd_rdma_port_is_active(const char *directory) {
  char pattern[PATH_MAX];
  glob_t states;
  bool active = false;
  snprintf(pattern, sizeof pattern, "%s/*/ports/*/state", directory);
  if (glob(pattern, GLOB_NOSORT, NULL, &states) != 0) return false;
  for (size_t i = 0; i < states.gl_pathc && !active; i++) active = is_active(states.gl_pathv[i]);
  globfree(&states);
  return active;
}

static bool is_active(const char *path) {
  char state[32];
  return rd_sysfs_line(state, sizeof state, "%s", path) && strncmp(state, ACTIVE, strlen(ACTIVE)) == 0;
}
