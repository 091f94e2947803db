// SPDX-License-Identifier: Apache-2.0
// Paths of a served copy: no path and no symbolic link leads out of the directory
#include "entry/root.h"

#include "test.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static char directory[] = "/tmp/rdpipe-root-test-XXXXXX";

static void make_file(const char *name, const char *text) {
  char path[256];
  snprintf(path, sizeof path, "%s/%s", directory, name);
  FILE *file = fopen(path, "w");
  CHECK(file != NULL && fputs(text, file) >= 0 && fclose(file) == 0);
}

static void make_link(const char *target, const char *name) {
  char path[256];
  snprintf(path, sizeof path, "%s/%s", directory, name);
  CHECK(symlink(target, path) == 0);
}

// Returns the file's first byte, or -errno.
static int first_byte(const char *path) {
  int fd = rd_root_open(path, O_RDONLY);
  if (fd < 0) return -errno;
  char byte = 0;
  ssize_t got = read(fd, &byte, 1);
  close(fd);
  return got == 1 ? byte : -EIO;
}

static void test_served_paths(void) {
  char path[256];
  CHECK(mkdtemp(directory) != NULL);
  snprintf(path, sizeof path, "%s/served", directory);
  CHECK(mkdir(path, 0700) == 0);
  snprintf(path, sizeof path, "%s/served/etc", directory);
  CHECK(mkdir(path, 0700) == 0);
  make_file("outside", "o");
  make_file("served/inside", "i");
  make_file("served/etc/passwd", "p");
  snprintf(path, sizeof path, "%s/outside", directory);
  make_link(path, "served/absolute");
  make_link("../outside", "served/relative");
  make_link("inside", "served/within");
  make_link("/proc/self/root", "served/magic");
  CHECK(!rd_root_is_set());
  CHECK(first_byte(path) == 'o');
  snprintf(path, sizeof path, "%s/served", directory);
  int root_fd = open(path, O_PATH | O_DIRECTORY | O_CLOEXEC);
  rd_root_set(root_fd);
  CHECK(rd_root_is_set());
  static const char *const inside[] = {"inside",       "/inside",       "//inside", "~/inside",
                                       "../../inside", "etc/../inside", "within"};
  for (size_t i = 0; i < sizeof inside / sizeof *inside; i++) CHECK(first_byte(inside[i]) == 'i');
  CHECK(first_byte("/etc/passwd") == 'p');
  static const char *const outside[] = {"outside",  "../outside",        "/../outside",     "absolute",
                                        "relative", "etc/../../outside", "magic/etc/passwd"};
  for (size_t i = 0; i < sizeof outside / sizeof *outside; i++) CHECK(first_byte(outside[i]) < 0);
  struct stat root, opened;
  static const char *const roots[] = {"", "/", "~", "~/", ".", "..", "/.."};
  CHECK(stat(path, &root) == 0);
  for (size_t i = 0; i < sizeof roots / sizeof *roots; i++) {
    int fd = rd_root_open(roots[i], O_PATH | O_DIRECTORY);
    CHECK(fd >= 0 && fstat(fd, &opened) == 0 && opened.st_ino == root.st_ino);
    close(fd);
  }
  close(root_fd);
}

int main(void) {
  test_served_paths();
  char command[64];
  snprintf(command, sizeof command, "rm -rf %s", directory);
  CHECK(system(command) == 0);
  return test_end("root");
}
