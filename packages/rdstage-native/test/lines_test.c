// SPDX-License-Identifier: Apache-2.0
// Tests of lines over real pipes and sockets: limits, order, and that no call blocks.
#include "base/io.h"
#include "runtime/lines.h"
#include "test.h"

#include <fcntl.h>
#include <limits.h>
#include <poll.h>
#include <signal.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#define LINE_MAX_BYTES 10

static char taken[256];

static bool receive(void *context, const char *line, size_t bytes) {
  (void)context;
  strncat(taken, line, bytes);
  strcat(taken, "|");
  return strcmp(line, "stop") != 0;
}

// Feeds the pieces to a reader and stores the lines in `taken`.
static enum rd_lines_state read_pieces(const char *const *pieces, struct rd_error *error) {
  int ends[2];
  REQUIRE(!pipe(ends));
  struct rd_line_reader *reader = rd_line_reader_create(ends[0], LINE_MAX_BYTES);
  enum rd_lines_state state = RD_LINES_MORE;
  *taken = '\0';
  for (; *pieces != NULL && state == RD_LINES_MORE; pieces++) {
    REQUIRE(rd_write_all(ends[1], *pieces, strlen(*pieces)));
    state = rd_line_reader_take(reader, receive, NULL, error);
  }
  close(ends[1]);
  if (state == RD_LINES_MORE) state = rd_line_reader_take(reader, receive, NULL, error);
  rd_line_reader_destroy(reader);
  close(ends[0]);
  return state;
}

static void test_reading(void) {
  struct rd_error error;
  CHECK(read_pieces((const char *[]){"one\ntwo\nth", "ree\n", "rest", NULL}, &error) == RD_LINES_END);
  CHECK(strcmp(taken, "one|two|three|") == 0);
  CHECK(read_pieces((const char *[]){"\n\n1234567890\n", NULL}, &error) == RD_LINES_END);
  CHECK(strcmp(taken, "||1234567890|") == 0);
  CHECK(read_pieces((const char *[]){"a\nstop\nb\n", NULL}, &error) == RD_LINES_FAILED);
  CHECK(strcmp(taken, "a|stop|") == 0);
}

static void test_long_lines(void) {
  struct rd_error error;
  CHECK(read_pieces((const char *[]){"a\n12345678901\nb\n", NULL}, &error) == RD_LINES_FAILED);
  CHECK(strcmp(taken, "a|") == 0 && error.code == RD_CODE_USAGE);
  CHECK(read_pieces((const char *[]){"12345678", "901", NULL}, &error) == RD_LINES_FAILED);
  CHECK(*taken == '\0' && strcmp(error.message, "a line is longer than 10 bytes") == 0);
}

static void test_writing_order(void) {
  int ends[2];
  char text[64] = "";
  REQUIRE(!socketpair(AF_UNIX, SOCK_STREAM, 0, ends));
  struct rd_line_writer *writer = rd_line_writer_create(ends[0]);
  rd_line_writer_add(writer, "one", 3);
  rd_line_writer_add(writer, "two", 3);
  rd_line_writer_add_first(writer, "zero", 4);
  CHECK(rd_line_writer_first_is(writer, "zero") && !rd_line_writer_first_is(writer, "zer"));
  CHECK(rd_line_writer_queued_bytes(writer) == 13);
  CHECK(rd_line_writer_flush(writer) && rd_line_writer_queued_bytes(writer) == 0);
  CHECK(read(ends[1], text, sizeof text) == 13 && strcmp(text, "zero\none\ntwo\n") == 0);
  CHECK(!rd_line_writer_first_is(writer, "zero"));
  close(ends[1]);
  rd_line_writer_add(writer, "x", 1);
  CHECK(!rd_line_writer_flush(writer));
  rd_line_writer_destroy(writer);
  close(ends[0]);
}

// Only as much as fits is written to a blocking pipe, a line that was written in part is completed before a line that
// is added first, and no call blocks.
static void test_writing_to_a_full_pipe(void) {
  static char line[100000];
  static char got[300000];
  int ends[2];
  REQUIRE(!pipe(ends));
  memset(line, 'a', sizeof line);
  struct rd_line_writer *writer = rd_line_writer_create(ends[1]);
  rd_line_writer_add(writer, line, sizeof line);
  struct pollfd polled = {.fd = ends[1], .events = POLLOUT};
  while (poll(&polled, 1, 0) == 1) REQUIRE(rd_line_writer_flush(writer));
  size_t left = rd_line_writer_queued_bytes(writer);
  CHECK(left > 0 && left < sizeof line);
  rd_line_writer_add_first(writer, "urgent", 6);
  CHECK(rd_line_writer_first_is(writer, "urgent"));
  size_t total = 0;
  while (total < sizeof line + 1 + 7) {
    total += (size_t)read(ends[0], got + total, sizeof got - total);
    while (rd_line_writer_queued_bytes(writer) && poll(&polled, 1, 0) == 1) REQUIRE(rd_line_writer_flush(writer));
  }
  CHECK(memcmp(got, line, sizeof line) == 0 && memcmp(got + sizeof line, "\nurgent\n", 8) == 0);
  CHECK(!(fcntl(ends[1], F_GETFL) & O_NONBLOCK));
  rd_line_writer_destroy(writer);
  close(ends[0]);
  close(ends[1]);
}

int main(void) {
  signal(SIGPIPE, SIG_IGN);
  test_reading();
  test_long_lines();
  test_writing_order();
  test_writing_to_a_full_pipe();
  return test_end("rdstage lines");
}
