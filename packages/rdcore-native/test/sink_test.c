// SPDX-License-Identifier: Apache-2.0
// What is written at once, and what is not.
#include "sink.h"

#include "io.h"
#include "test.h"

#include <fcntl.h>
#include <limits.h>
#include <poll.h>
#include <string.h>
#include <unistd.h>

static struct rd_error error;
static unsigned char bytes[PIPE_BUF + 1];

static void test_pipe(void) {
  int fds[2];
  static unsigned char seen[PIPE_BUF];
  REQUIRE(pipe2(fds, O_CLOEXEC) == 0 && fcntl(fds[1], F_SETPIPE_SZ, 2 * PIPE_BUF) > 0);
  struct rd_sink *sink = rd_sink_from_fd(fds[1], &error);
  REQUIRE(sink != NULL && fcntl(fds[1], F_SETPIPE_SZ, 2 * PIPE_BUF) > 0); // it asked for more
  memset(bytes, 5, sizeof bytes);
  CHECK(!rd_sink_write_at_once(sink, bytes, sizeof bytes));
  CHECK(rd_sink_write_at_once(sink, bytes, PIPE_BUF) && rd_sink_write_at_once(sink, bytes, PIPE_BUF));
  CHECK(!rd_sink_write_at_once(sink, bytes, 1)); // it is full
  CHECK(rd_read_some(fds[0], seen, sizeof seen) == PIPE_BUF && memcmp(seen, bytes, PIPE_BUF) == 0);
  CHECK(rd_sink_write_at_once(sink, bytes, 1));
  close(fds[0]);
  CHECK(!rd_sink_write_at_once(sink, bytes, 1)); // nobody reads
  rd_sink_destroy(sink);
  close(fds[1]);
}

static void test_file(void) {
  int fd = open("/tmp", O_TMPFILE | O_RDWR | O_CLOEXEC, 0600);
  REQUIRE(fd >= 0);
  struct rd_sink *sink = rd_sink_from_fd(fd, &error);
  REQUIRE(sink != NULL);
  CHECK(!rd_sink_write_at_once(sink, bytes, 1) && lseek(fd, 0, SEEK_END) == 0);
  rd_sink_destroy(sink);
  close(fd);
}

int main(void) {
  test_pipe();
  test_file();
  return test_end("sink");
}
