// SPDX-License-Identifier: Apache-2.0
// Tests of the check of the programs in the agent's directory.
#include "host/program_sums.h"
#include "test.h"

#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

// The test vectors of FIPS 180 for "abc" and for the empty message.
#define ABC "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad"
#define EMPTY "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855"
// The digest of 1000003 zero bytes.
#define ZEROS "9e3c25400146ab5a01345705a1916a2e76a43c45789e38e14420f4eb47d5e384"

#define TREE ",rdtree=" EMPTY

static char directory[] = "/tmp/rdstage-test-XXXXXX";

static void put(const char *name, const char *content) {
  int fd = open(name, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0700);
  REQUIRE(fd >= 0 && write(fd, content, strlen(content)) == (ssize_t)strlen(content));
  close(fd);
}

static bool hold(const char *sums) {
  return rd_program_sums_hold(directory, sums);
}

static void test_contents(void) {
  put("rdhop", "abc");
  put("rdtree", "");
  CHECK(hold("rdhop=" ABC TREE));
  CHECK(hold("dynamic/rdhop=" EMPTY ",rdhop=" ABC TREE));
  CHECK(!hold("rdhop=" ABC ",rdtree=" ABC) && !hold("rdhop=" EMPTY TREE));
  CHECK(!hold("rdhop=" ABC) && !hold("") && !hold("rdhop,rdtree") && !hold("rdhop=ba78" TREE));
}

// The file is longer than one read.
static void test_many_bytes(void) {
  put("rdhop", "");
  REQUIRE(truncate("rdhop", 1000003) == 0);
  CHECK(hold("rdhop=" ZEROS TREE) && !hold("rdhop=" ABC TREE));
  put("rdhop", "abc");
}

static void test_kinds(void) {
  const char *sums = "rdhop=" ABC TREE;
  REQUIRE(rename("rdhop", "other") == 0);
  CHECK(!hold(sums));
  REQUIRE(symlink("other", "rdhop") == 0);
  CHECK(!hold(sums));
  REQUIRE(unlink("rdhop") == 0 && mkfifo("rdhop", 0700) == 0);
  CHECK(!hold(sums));
  REQUIRE(unlink("rdhop") == 0 && rename("other", "rdhop") == 0 && chmod("rdhop", 0600) == 0);
  CHECK(!hold(sums));
  REQUIRE(chmod("rdhop", 0700) == 0);
  CHECK(hold(sums));
  CHECK(!rd_program_sums_hold("/nowhere", sums));
}

// If there is a directory `dynamic`, only its programs would be started.
static void test_dynamic(void) {
  const char *sums = "rdhop=" ABC TREE ",dynamic/rdhop=" ABC ",dynamic/rdtree=" ZEROS;
  CHECK(hold(sums));
  REQUIRE(mkdir("dynamic", 0700) == 0);
  CHECK(!hold(sums));
  put("dynamic/rdhop", "abc");
  CHECK(!hold(sums));
  put("dynamic/rdtree", "");
  REQUIRE(truncate("dynamic/rdtree", 1000003) == 0);
  CHECK(hold(sums) && !hold("rdhop=" ABC TREE));
  put("rdtree", "another"); // would not be started
  CHECK(hold(sums));
  put("rdhop", "another");
  CHECK(!hold(sums));
  put("rdhop", "abc");
  put("dynamic/rdhop", "abd");
  CHECK(!hold(sums));
  put("dynamic/rdhop", "abc");
  REQUIRE(rename("dynamic", "elsewhere") == 0 && symlink("elsewhere", "dynamic") == 0);
  CHECK(!hold(sums));
  REQUIRE(unlink("dynamic") == 0 && rename("elsewhere", "dynamic") == 0);
}

// A dynamic agent also starts the static program, which is in the directory above.
static void test_above(void) {
  const char *sums = "rdhop=" ABC ",rdtree=" EMPTY ",../rdhop=" ABC;
  put("dynamic/rdhop", "abc");
  put("dynamic/rdtree", "");
  CHECK(rd_program_sums_hold("dynamic", sums));
  put("rdhop", "another");
  CHECK(!rd_program_sums_hold("dynamic", sums));
  REQUIRE(unlink("rdhop") == 0);
  CHECK(!rd_program_sums_hold("dynamic", sums));
}

int main(void) {
  REQUIRE(mkdtemp(directory) && chdir(directory) == 0);
  test_contents();
  test_many_bytes();
  test_kinds();
  test_dynamic();
  test_above();
  char command[64];
  snprintf(command, sizeof command, "rm -r %s", directory);
  CHECK(system(command) == 0);
  return test_end("program_sums");
}
