// SPDX-License-Identifier: Apache-2.0
#include "target/mount_name.h"

#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>

void rd_mount_name(int fd, char *name, size_t bytes) {
  struct stat now;
  snprintf(name, bytes, "?");
  FILE *mounts = fstat(fd, &now) == 0 ? fopen("/proc/self/mountinfo", "re") : NULL;
  char *line = NULL;
  size_t room = 0;
  while (mounts != NULL && getline(&line, &room, mounts) > 0) {
    unsigned major, minor;
    char point[4096];
    if (sscanf(line, "%*d %*d %u:%u %*s %4095s", &major, &minor, point) == 3 && makedev(major, minor) == now.st_dev)
      snprintf(name, bytes, "%s", point);
  }
  free(line);
  if (mounts != NULL) fclose(mounts);
}
