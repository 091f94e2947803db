// SPDX-License-Identifier: Apache-2.0
// Tests of directories that are opened one after another, in deep trees and next to each other.
#include "target/open_chain.h"

#include "base/memory.h"
#include "test.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define DEPTH 300u

static char directory[] = "/tmp/rd-chain-XXXXXX";
static ino_t inodes[2][DEPTH + 1]; // of two chains of directories, `a/d/d…` and `b/d/d…`

static void make_chain(int top, unsigned chain) {
  int fd = dup(top);
  for (unsigned level = 1; level <= DEPTH; level++) {
    struct stat now;
    const char *name = level > 1 ? "d" : chain == 0 ? "a" : "b";
    REQUIRE(mkdirat(fd, name, 0700) == 0);
    int below = openat(fd, name, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    REQUIRE(below >= 0 && fstat(below, &now) == 0);
    inodes[chain][level] = now.st_ino;
    close(fd);
    fd = below;
  }
  close(fd);
}

static char *path_to(unsigned chain, unsigned level) {
  char *path = rd_memory_new(2 * (size_t)level, 1);
  path[0] = chain == 0 ? 'a' : 'b';
  for (unsigned i = 1; i < level; i++) memcpy(path + 2 * i - 1, "/d", 2);
  return path;
}

static bool leads(struct rd_open_chain *chain, unsigned which, unsigned level) {
  char *path = path_to(which, level);
  struct stat now;
  int fd = rd_open_chain_next(chain, path);
  bool is_right = fd >= 0 && fstat(fd, &now) == 0 && now.st_ino == inodes[which][level];
  if (fd >= 0) close(fd);
  free(path);
  return is_right;
}

static void test_orders(int top) {
  struct rd_open_chain *chain = rd_open_chain_create(top);
  for (unsigned which = 0; which < 2; which++)
    for (unsigned level = DEPTH; level > 0; level--) CHECK(leads(chain, which, level));
  for (unsigned level = 1; level <= DEPTH; level++) CHECK(leads(chain, level % 2, level));
  for (unsigned level = 1; level <= DEPTH; level += 63) CHECK(leads(chain, 0, DEPTH) && leads(chain, 0, level));
  int fd = rd_open_chain_next(chain, "");
  struct stat now, wanted;
  CHECK(fd >= 0 && fstat(fd, &now) == 0 && fstat(top, &wanted) == 0 && now.st_ino == wanted.st_ino);
  if (fd >= 0) close(fd);
  rd_open_chain_destroy(chain);
  rd_open_chain_destroy(NULL);
}

static void test_what_is_no_directory(int top) {
  struct rd_open_chain *chain = rd_open_chain_create(top);
  REQUIRE(symlinkat("a", top, "link") == 0);
  CHECK(rd_open_chain_next(chain, "link") < 0 && rd_open_chain_next(chain, "link/d") < 0);
  CHECK(rd_open_chain_next(chain, "none") < 0 && errno == ENOENT);
  CHECK(rd_open_chain_next(chain, "..") < 0 && leads(chain, 0, 2));
  rd_open_chain_destroy(chain);
}

int main(void) {
  REQUIRE(mkdtemp(directory) != NULL);
  int top = open(directory, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  REQUIRE(top >= 0);
  make_chain(top, 0);
  make_chain(top, 1);
  test_orders(top);
  test_what_is_no_directory(top);
  close(top);
  char command[64];
  snprintf(command, sizeof command, "rm -r %s", directory);
  CHECK(system(command) == 0);
  return test_end("open chain");
}
