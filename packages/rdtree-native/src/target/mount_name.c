// SPDX-License-Identifier: Apache-2.0
#include "target/mount_name.h"

#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>

void rd_mount_name(int fd, char *name, size_t bytes) {
  struct stat now;
  snprintf(name, bytes, "?");
  FILE *mounts = fstat(fd, &now) == 0 ? fopen("/proc/self/mountinfo", "re") : NULL;
  char *line = NULL;
  size_t room = 0;
  bool has_whole = false;
  while (mounts != NULL && getline(&line, &room, mounts) > 0) {
    unsigned major, minor;
    char root[4096], point[4096];
    if (sscanf(line, "%*d %*d %u:%u %4095s %4095s", &major, &minor, root, point) != 4) continue;
    bool is_whole = strcmp(root, "/") == 0; // else a part of it, which a bind mount shows elsewhere
    if (makedev(major, minor) != now.st_dev || (has_whole && !is_whole)) continue;
    has_whole = is_whole;
    snprintf(name, bytes, "%s", point);
  }
  free(line);
  if (mounts != NULL) fclose(mounts);
}
