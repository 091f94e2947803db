// SPDX-License-Identifier: Apache-2.0
// Tests of which sinks are written to without blocking, and how much.
#include "sink/sink.h"

#include "base/io.h"
#include "test.h"

#include <fcntl.h>
#include <limits.h>
#include <poll.h>
#include <signal.h>
#include <string.h>
#include <unistd.h>

#define SMALL_PIPE_BYTES (2 * PIPE_BUF)

static struct rd_error error;
static unsigned char bytes[PIPE_BUF + 1];

static void test_pipe(void) {
  int fds[2];
  static unsigned char seen[SMALL_PIPE_BYTES];
  REQUIRE(pipe2(fds, O_CLOEXEC) == 0);
  struct rd_sink *sink = rd_sink_from_fd(fds[1]);
  REQUIRE(sink != NULL && fcntl(fds[1], F_SETPIPE_SZ, SMALL_PIPE_BYTES) > 0); // more than the sink asked for
  CHECK(rd_sink_never_blocks(sink) && (fcntl(fds[1], F_GETFL) & O_NONBLOCK) == 0);
  memset(bytes, 5, sizeof bytes);
  CHECK(rd_sink_write_now(sink, bytes, PIPE_BUF, &error) == PIPE_BUF);
  ssize_t rest = rd_sink_write_now(sink, bytes, sizeof bytes, &error);
  CHECK(rest > 0 && rest <= PIPE_BUF);
  CHECK(rd_sink_write_now(sink, bytes, 1, &error) == 0); // the pipe is full
  CHECK(rd_wait_fd(rd_sink_watch_fd(sink), POLLOUT, 0) == 0);
  CHECK(rd_read_some(fds[0], seen, sizeof seen) == PIPE_BUF + rest && memcmp(seen, bytes, PIPE_BUF) == 0);
  CHECK(rd_wait_fd(rd_sink_watch_fd(sink), POLLOUT, 0) == 1 && rd_sink_write_now(sink, bytes, 1, &error) == 1);
  close(fds[0]);
  CHECK(rd_sink_write_now(sink, bytes, 1, &error) == -1 && error.code == RD_CODE_CLOSED);
  rd_sink_destroy(sink);
  close(fds[1]);
}

// After the commit, a reader sees the end as soon as the descriptor that was passed in is closed.
static void test_end_of_pipe(void) {
  int fds[2];
  REQUIRE(pipe2(fds, O_CLOEXEC) == 0);
  struct rd_sink *sink = rd_sink_from_fd(fds[1]);
  REQUIRE(sink != NULL && rd_sink_commit(sink, &error));
  close(fds[1]);
  CHECK(rd_wait_fd(fds[0], POLLIN, 0) == 1 && rd_read_some(fds[0], bytes, 1) == 0);
  rd_sink_destroy(sink);
  close(fds[0]);
}

static void test_null(void) {
  struct rd_sink *sink = rd_sink_open("/dev/null", false, &error);
  REQUIRE(sink != NULL && rd_sink_never_blocks(sink));
  CHECK(rd_sink_write_now(sink, bytes, sizeof bytes, &error) == (ssize_t)sizeof bytes && rd_sink_commit(sink, &error));
  rd_sink_destroy(sink);
}

static void test_file(void) {
  int fd = open("/tmp", O_TMPFILE | O_RDWR | O_CLOEXEC, 0600);
  REQUIRE(fd >= 0);
  struct rd_sink *sink = rd_sink_from_fd(fd);
  REQUIRE(sink != NULL && !rd_sink_never_blocks(sink));
  rd_sink_destroy(sink);
  close(fd);
}

int main(void) {
  signal(SIGPIPE, SIG_IGN); // as the programs do
  test_pipe();
  test_end_of_pipe();
  test_null();
  test_file();
  return test_end("sink");
}
