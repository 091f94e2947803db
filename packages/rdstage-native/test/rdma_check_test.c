// SPDX-License-Identifier: Apache-2.0
// Tests of the RDMA check with programs that answer, fail or hang.
#include "base/io.h"
#include "base/spawn.h"
#include "host/rdma_check.h"
#include "test.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

static struct rd_error why;
static char program[] = "/tmp/rdstage-test-XXXXXX";
static int null_fd;
static int64_t limit_ms;

// Returns the result for a program that runs this script.
static bool check(const char *script) {
  int fd = open(program, O_WRONLY | O_TRUNC | O_CLOEXEC);
  REQUIRE(fd >= 0 && dprintf(fd, "#!/bin/sh\n%s\n", script) > 0);
  close(fd);
  why.message[0] = '\0';
  bool usable = rd_rdma_check(program, null_fd, limit_ms, &why);
  CHECK(waitpid(-1, NULL, WNOHANG) < 0 && errno == ECHILD); // no child is left
  return usable;
}

static bool fails(const char *script, const char *words) {
  bool right = !check(script) && strcmp(why.message, words) == 0;
  if (!right) fprintf(stderr, "%s\n", why.message);
  return right;
}

static void test_answers(void) {
  CHECK(check("test \"$*\" = 'rdrecv --rdma-check'"));
  CHECK(check("echo more than was asked for"));
  CHECK(fails("echo 'librdmacm.so.1 is not installed'; exit 3", "librdmacm.so.1 is not installed"));
  CHECK(fails("printf 'a \\033[1mloud\\tone\\nand more'; exit 3", "a ?[1mloud?one"));
}

static void test_no_answers(void) {
  CHECK(fails("exit 3", "rdrecv --rdma-check ended with status 3"));
  CHECK(fails("echo usage; exit 2", "rdrecv --rdma-check ended with status 2"));
  CHECK(fails("kill -SEGV $$", "rdrecv --rdma-check was killed by signal 11"));
  CHECK(!rd_rdma_check("/nowhere/rdrecv", null_fd, limit_ms, &why));
  CHECK(strcmp(why.message, "cannot start /nowhere/rdrecv: no such file or directory") == 0);
}

// The program is killed together with everything it started, although it writes endlessly.
static void test_endless(void) {
  limit_ms = 500;
  CHECK(fails("sleep 1000 & exec cat /dev/zero", "rdrecv --rdma-check did not finish within 0.5 s"));
}

int main(void) {
  int fd = mkstemp(program);
  REQUIRE(fd >= 0 && fchmod(fd, 0700) == 0);
  close(fd);
  null_fd = rd_spawn_null_device(&why);
  int signal_fd = rd_spawn_signals(&why);
  REQUIRE(null_fd >= 0 && signal_fd >= 0);
  limit_ms = WAIT_MS;
  test_answers();
  test_no_answers();
  test_endless();
  unlink(program);
  close(signal_fd);
  close(null_fd);
  return test_end("rdma_check");
}
