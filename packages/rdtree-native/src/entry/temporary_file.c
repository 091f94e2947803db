// SPDX-License-Identifier: Apache-2.0
#include "entry/temporary_file.h"

#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

int rd_temporary_file(void) {
  char path[PATH_MAX];
  const char *directory = getenv("TMPDIR");
  if (directory == NULL || *directory == '\0') directory = "/tmp";
  int fd = open(directory, O_TMPFILE | O_RDWR | O_CLOEXEC, 0600);
  if (fd >= 0) return fd;
  // Some file systems do not support O_TMPFILE.
  snprintf(path, sizeof path, "%s/rdtree-XXXXXX", directory);
  fd = mkostemp(path, O_CLOEXEC);
  if (fd < 0) return memfd_create("rdtree", MFD_CLOEXEC);
  (void)unlink(path);
  return fd;
}
