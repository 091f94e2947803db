// SPDX-License-Identifier: Apache-2.0
// Tests of the check of the programs beside the agent.
#include "host/program_sums.h"
#include "test.h"

#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

// The test vectors of FIPS 180 for "abc" and for nothing.
#define ABC "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad"
#define EMPTY "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855"
// Of 1000003 zeros.
#define ZEROS "9e3c25400146ab5a01345705a1916a2e76a43c45789e38e14420f4eb47d5e384"

#define TREE ",rdtree=" EMPTY

static char folder[] = "/tmp/rdstage-test-XXXXXX";

static void put(const char *name, const char *content) {
  int fd = open(name, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0700);
  REQUIRE(fd >= 0 && write(fd, content, strlen(content)) == (ssize_t)strlen(content));
  close(fd);
}

static bool hold(const char *sums) {
  return rd_program_sums_hold(folder, sums);
}

static void test_contents(void) {
  put("rdsend", "abc");
  put("rdrecv", "");
  put("rdtree", "");
  CHECK(hold("rdsend=" ABC ",rdrecv=" EMPTY TREE));
  CHECK(hold("dynamic/rdsend=" EMPTY ",rdrecv=" EMPTY ",rdsend=" ABC TREE));
  CHECK(!hold("rdsend=" ABC ",rdrecv=" EMPTY) && !hold("rdsend=" ABC ",rdrecv=" EMPTY ",rdtree=" ABC));
  CHECK(!hold("rdsend=" ABC ",rdrecv=" ABC TREE) && !hold("rdsend=" EMPTY ",rdrecv=" EMPTY TREE));
  CHECK(!hold("rdsend=" ABC) && !hold("") && !hold("rdsend,rdrecv") && !hold("rdsend=ba78,rdrecv=" EMPTY TREE));
}

// More than is read at once.
static void test_many_bytes(void) {
  put("rdsend", "");
  REQUIRE(truncate("rdsend", 1000003) == 0);
  CHECK(hold("rdsend=" ZEROS ",rdrecv=" EMPTY TREE) && !hold("rdsend=" ABC ",rdrecv=" EMPTY TREE));
  put("rdsend", "abc");
}

static void test_kinds(void) {
  const char *sums = "rdsend=" ABC ",rdrecv=" EMPTY TREE;
  REQUIRE(rename("rdsend", "other") == 0);
  CHECK(!hold(sums));
  REQUIRE(symlink("other", "rdsend") == 0);
  CHECK(!hold(sums));
  REQUIRE(unlink("rdsend") == 0 && mkfifo("rdsend", 0700) == 0);
  CHECK(!hold(sums));
  REQUIRE(unlink("rdsend") == 0 && rename("other", "rdsend") == 0 && chmod("rdsend", 0600) == 0);
  CHECK(!hold(sums));
  REQUIRE(chmod("rdsend", 0700) == 0);
  CHECK(hold(sums));
  CHECK(!rd_program_sums_hold("/nowhere", sums));
}

// Where there is a folder `dynamic`, only its programs would be started.
static void test_dynamic(void) {
  const char *sums =
      "rdsend=" ABC ",rdrecv=" EMPTY TREE ",dynamic/rdsend=" EMPTY ",dynamic/rdrecv=" ABC ",dynamic/rdtree=" ZEROS;
  CHECK(hold(sums));
  REQUIRE(mkdir("dynamic", 0700) == 0);
  CHECK(!hold(sums));
  put("dynamic/rdsend", "");
  CHECK(!hold(sums));
  put("dynamic/rdrecv", "abc");
  CHECK(!hold(sums));
  put("dynamic/rdtree", "");
  REQUIRE(truncate("dynamic/rdtree", 1000003) == 0);
  CHECK(hold(sums) && !hold("rdsend=" ABC ",rdrecv=" EMPTY TREE));
  put("rdsend", "another"); // would not be started
  CHECK(hold(sums));
  put("dynamic/rdrecv", "abd");
  CHECK(!hold(sums));
  put("dynamic/rdrecv", "abc");
  REQUIRE(rename("dynamic", "elsewhere") == 0 && symlink("elsewhere", "dynamic") == 0);
  CHECK(!hold(sums));
}

int main(void) {
  REQUIRE(mkdtemp(folder) && chdir(folder) == 0);
  test_contents();
  test_many_bytes();
  test_kinds();
  test_dynamic();
  char command[64];
  snprintf(command, sizeof command, "rm -r %s", folder);
  CHECK(system(command) == 0);
  return test_end("program_sums");
}
