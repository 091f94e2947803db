// SPDX-License-Identifier: Apache-2.0
// Tests that received data is written in order.
// The owner writes to a pipe, as fast as it accepts data; the thread to a file.
#include "sink/writer.h"

#include "base/digest.h"
#include "base/io.h"
#include "test.h"

#include <fcntl.h>
#include <signal.h>
#include <string.h>
#include <unistd.h>

#define FRAME_BYTES (100u << 10)
#define FRAMES 4u
#define SMALL_PIPE_BYTES (64 << 10)

static struct rd_error error;
static const struct rd_signing unsigned_stream;
static unsigned char sent[FRAMES * FRAME_BYTES], seen[sizeof sent];

struct stream {
  int read_fd, write_fd;
  struct rd_sink *sink;
  struct rd_writer *writer;
  size_t seen_bytes;
};

static void open_stream(struct stream *stream) {
  int fds[2];
  REQUIRE(pipe2(fds, O_CLOEXEC) == 0 && rd_set_nonblocking(fds[0]));
  *stream = (struct stream){.read_fd = fds[0], .write_fd = fds[1]};
  stream->sink = rd_sink_from_fd(fds[1]);
  REQUIRE(fcntl(fds[1], F_SETPIPE_SZ, SMALL_PIPE_BYTES) > 0);
  stream->writer = rd_writer_create(FRAMES, rd_stream_check_create(&unsigned_stream, &error), &error);
  REQUIRE(stream->sink != NULL && stream->writer != NULL);
}

static void close_stream(struct stream *stream) {
  CHECK(rd_writer_stop(stream->writer));
  rd_writer_destroy(stream->writer);
  rd_sink_destroy(stream->sink);
  close(stream->read_fd);
  close(stream->write_fd);
}

static struct rd_rx_frame frame(unsigned number) {
  return (struct rd_rx_frame){.payload = sent + number * FRAME_BYTES, .bytes = FRAME_BYTES, .message.slot = number};
}

static void put(struct stream *stream, unsigned number) {
  struct rd_rx_frame rx_frame = frame(number);
  CHECK(rd_writer_put(stream->writer, &rx_frame, &error));
}

static void finish(struct stream *stream, size_t bytes) {
  struct rd_end end = {0};
  struct rd_digest *digest = rd_digest_create(&error);
  REQUIRE(digest != NULL);
  rd_digest_update(digest, sent, bytes);
  rd_digest_value(digest, end.digest);
  rd_digest_destroy(digest);
  rd_writer_finish(stream->writer, &end);
}

static void see(struct stream *stream) {
  ssize_t got;
  while ((got = rd_read_some(stream->read_fd, seen + stream->seen_bytes, sizeof seen - stream->seen_bytes)) > 0)
    stream->seen_bytes += (size_t)got;
}

// Does as the receiving loop does, until `bytes` were seen.
static void see_until(struct stream *stream, size_t bytes) {
  while (see(stream), stream->seen_bytes < bytes) {
    struct pollfd room = rd_writer_poll(stream->writer);
    if (!CHECK(rd_wait_fd(room.fd, room.events, WAIT_MS) == 1)) return;
    rd_writer_woken(stream->writer);
  }
}

// More than the pipe can hold: the rest is written when the pipe can take it, and the owner never blocks.
static void test_pipe(void) {
  struct stream stream;
  struct rd_rx_frame back;
  open_stream(&stream);
  put(&stream, 0);
  REQUIRE(rd_writer_begin(stream.writer, stream.sink, &error)); // data that arrived earlier is also written
  for (unsigned i = 1; i < FRAMES; i++) put(&stream, i);
  CHECK(rd_writer_pending(stream.writer) == FRAMES && !rd_writer_take_back(stream.writer, &back));
  finish(&stream, sizeof sent);
  CHECK(rd_writer_state(stream.writer, &error) == RD_WRITER_WRITING);
  see_until(&stream, sizeof sent);
  for (unsigned i = 0; i < FRAMES; i++) CHECK(rd_writer_take_back(stream.writer, &back) && back.message.slot == i);
  CHECK(memcmp(seen, sent, sizeof sent) == 0);
  CHECK(rd_writer_state(stream.writer, &error) == RD_WRITER_COMMITTED && rd_writer_poll(stream.writer).fd < 0);
  close_stream(&stream);
}

static void test_other_digest(void) {
  struct stream stream;
  open_stream(&stream);
  REQUIRE(rd_writer_begin(stream.writer, stream.sink, &error));
  put(&stream, 0);
  finish(&stream, FRAME_BYTES - 1);
  see_until(&stream, FRAME_BYTES);
  CHECK(rd_writer_state(stream.writer, &error) == RD_WRITER_FAILED && error.code == RD_CODE_DATA_DAMAGED);
  close_stream(&stream);
}

// The connection breaks in the middle of a frame: that frame stays until it is written; the others will be sent again.
static void test_forget(void) {
  struct stream stream;
  struct rd_rx_frame back;
  bool forgot_end;
  open_stream(&stream);
  REQUIRE(rd_writer_begin(stream.writer, stream.sink, &error));
  put(&stream, 0);
  put(&stream, 1);
  finish(&stream, 2 * FRAME_BYTES);
  CHECK(rd_writer_discard_pending(stream.writer, &forgot_end) == FRAME_BYTES && forgot_end);
  CHECK(rd_writer_pending(stream.writer) == 1);
  put(&stream, 1);
  finish(&stream, 2 * FRAME_BYTES);
  see_until(&stream, 2 * FRAME_BYTES);
  CHECK(rd_writer_take_back(stream.writer, &back) && rd_writer_take_back(stream.writer, &back));
  CHECK(memcmp(seen, sent, 2 * FRAME_BYTES) == 0);
  CHECK(rd_writer_state(stream.writer, &error) == RD_WRITER_COMMITTED);
  close_stream(&stream);
}

static void test_reader_goes(void) {
  struct stream stream;
  open_stream(&stream);
  REQUIRE(rd_writer_begin(stream.writer, stream.sink, &error));
  put(&stream, 0);
  close(stream.read_fd);
  struct pollfd room = rd_writer_poll(stream.writer);
  CHECK(rd_wait_fd(room.fd, room.events, WAIT_MS) == 1);
  rd_writer_woken(stream.writer);
  CHECK(rd_writer_state(stream.writer, &error) == RD_WRITER_FAILED && error.code == RD_CODE_CLOSED);
  stream.read_fd = dup(stream.write_fd); // a descriptor for close_stream()
  close_stream(&stream);
}

static void test_file(void) {
  int fd = open("/tmp", O_TMPFILE | O_RDWR | O_CLOEXEC, 0600);
  REQUIRE(fd >= 0);
  struct stream stream = {.read_fd = fd, .write_fd = dup(fd)};
  stream.sink = rd_sink_from_fd(stream.write_fd);
  stream.writer = rd_writer_create(FRAMES, rd_stream_check_create(&unsigned_stream, &error), &error);
  REQUIRE(stream.sink != NULL && stream.writer != NULL);
  put(&stream, 0);
  REQUIRE(rd_writer_begin(stream.writer, stream.sink, &error));
  for (unsigned i = 1; i < FRAMES; i++) put(&stream, i);
  finish(&stream, sizeof sent);
  while (rd_writer_state(stream.writer, &error) == RD_WRITER_WRITING) {
    struct pollfd news = rd_writer_poll(stream.writer);
    if (!CHECK(rd_wait_fd(news.fd, news.events, WAIT_MS) == 1)) break;
    rd_writer_woken(stream.writer);
  }
  CHECK(rd_writer_state(stream.writer, &error) == RD_WRITER_COMMITTED);
  CHECK(pread(fd, seen, sizeof seen, 0) == (ssize_t)sizeof seen && memcmp(seen, sent, sizeof sent) == 0);
  close_stream(&stream);
}

int main(void) {
  signal(SIGPIPE, SIG_IGN); // as the programs do
  for (size_t i = 0; i < sizeof sent; i++) sent[i] = (unsigned char)(i * 7 + i / 251);
  test_pipe();
  test_other_digest();
  test_forget();
  test_reader_goes();
  test_file();
  return test_end("writer");
}
