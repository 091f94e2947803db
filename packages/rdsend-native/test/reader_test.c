// SPDX-License-Identifier: Apache-2.0
// Tests of reading a source into the ring: a pipe by the owner, a socket by a thread.
#include "source/reader.h"

#include "base/cleanup.h"
#include "base/digest.h"
#include "base/io.h"
#include "test.h"

#include <fcntl.h>
#include <poll.h>
#include <pthread.h>
#include <string.h>
#include <sys/socket.h>

#define RING_BYTES (64u << 10)

static struct rd_error error;
static const struct rd_signing unsigned_stream;

struct stream {
  int read_fd, write_fd;
  struct rd_source *source;
  struct rd_ring *ring;
  struct rd_reader *reader;
  uint64_t taken;
  struct rd_stream_check *check;
  struct rd_digest *digest; // of the bytes taken
};

static void open_stream(struct stream *stream, bool socket) {
  int fds[2];
  REQUIRE(socket ? socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, fds) == 0 : pipe2(fds, O_CLOEXEC) == 0);
  *stream = (struct stream){.read_fd = fds[0], .write_fd = fds[1]};
  stream->source = rd_source_from_fd(stream->read_fd);
  stream->ring = rd_ring_create(RING_BYTES, &error);
  stream->digest = rd_digest_create(&error);
  REQUIRE(stream->source != NULL && stream->ring != NULL && stream->digest != NULL);
  stream->check = rd_stream_check_create(&unsigned_stream, &error);
  stream->reader = rd_reader_create(stream->source, stream->ring, stream->check, &error);
  REQUIRE(stream->reader != NULL);
}

static void close_stream(struct stream *stream) {
  CHECK(rd_reader_destroy(stream->reader));
  rd_ring_destroy(stream->ring);
  rd_source_destroy(stream->source);
  rd_digest_destroy(stream->digest);
  rd_stream_check_destroy(stream->check);
  rd_cleanup_fd(&stream->read_fd);
  rd_cleanup_fd(&stream->write_fd);
}

// Does as the sending loop does: takes the bytes in the ring, then waits for more.
static void take(struct stream *stream) {
  const unsigned char *bytes;
  size_t count;
  while ((count = rd_ring_peek(stream->ring, stream->taken, RING_BYTES, &bytes)) > 0) {
    rd_digest_update(stream->digest, bytes, count);
    stream->taken += count;
    rd_ring_release(stream->ring, stream->taken);
  }
}

static void await_news(struct stream *stream) {
  if (!rd_reader_expect_news(stream->reader, stream->taken)) return;
  if (CHECK(rd_wait_fd(rd_reader_poll_fd(stream->reader), POLLIN, WAIT_MS) == 1)) rd_reader_woken(stream->reader);
}

static void take_until(struct stream *stream, uint64_t bytes) {
  while (take(stream), stream->taken < bytes) await_news(stream);
}

static void take_to_end(struct stream *stream) {
  while (rd_reader_state(stream->reader, &error) == RD_READER_READING) {
    take(stream);
    await_news(stream);
  }
  take(stream);
}

static void check_whole(struct stream *stream, uint64_t bytes) {
  struct rd_end end;
  unsigned char taken[RD_DIGEST_BYTES];
  CHECK(rd_reader_state(stream->reader, &error) == RD_READER_AT_END && stream->taken == bytes);
  CHECK(rd_stream_check_sign(stream->check, &end, &error) && !end.is_signed);
  rd_digest_value(stream->digest, taken);
  CHECK(memcmp(end.digest, taken, sizeof taken) == 0);
}

static void test_bit_by_bit(bool socket) {
  struct stream stream;
  open_stream(&stream, socket);
  for (uint64_t i = 1; i <= 100; i++) {
    CHECK(rd_write_all(stream.write_fd, "12345678", 8));
    take_until(&stream, 8 * i);
    CHECK(stream.taken == 8 * i);
  }
  rd_cleanup_fd(&stream.write_fd);
  take_to_end(&stream);
  check_whole(&stream, 800);
  close_stream(&stream);
}

static void *write_much(void *context) {
  static unsigned char bytes[100000];
  int fd = *(int *)context;
  for (size_t i = 0; i < sizeof bytes; i++) bytes[i] = (unsigned char)(i * 7);
  CHECK(rd_write_all(fd, bytes, 100));
  for (int i = 0; i < 20; i++) CHECK(rd_write_all(fd, bytes, sizeof bytes));
  CHECK(rd_write_all(fd, bytes, 100));
  close(fd);
  return NULL;
}

static void test_much(bool socket) {
  struct stream stream;
  pthread_t thread;
  open_stream(&stream, socket);
  REQUIRE(pthread_create(&thread, NULL, write_much, &stream.write_fd) == 0);
  take_to_end(&stream);
  REQUIRE(pthread_join(thread, NULL) == 0);
  stream.write_fd = -1;
  check_whole(&stream, 200 + 20 * 100000);
  close_stream(&stream);
}

// The bytes that poll() reported are gone: another process reads the same pipe.
static void test_another_process_reads(void) {
  struct stream stream;
  char bytes[10] = "";
  open_stream(&stream, false);
  CHECK(rd_write_all(stream.write_fd, bytes, sizeof bytes));
  REQUIRE(rd_wait_fd(rd_reader_poll_fd(stream.reader), POLLIN, WAIT_MS) == 1);
  CHECK(read(stream.read_fd, bytes, sizeof bytes) == (ssize_t)sizeof bytes);
  rd_reader_woken(stream.reader);
  CHECK(rd_ring_filled(stream.ring) == 0 && rd_reader_state(stream.reader, &error) == RD_READER_READING);
  CHECK(rd_write_all(stream.write_fd, bytes, sizeof bytes));
  take_until(&stream, sizeof bytes);
  close_stream(&stream);
}

// Nothing is released: the ring fills, and the reader then waits for the ring to be released, not for its owner.
static void test_full_ring(void) {
  struct stream stream;
  char bytes[8000] = "";
  open_stream(&stream, false);
  for (size_t sent = 0; sent < RING_BYTES + RING_BYTES / 2; sent += sizeof bytes) {
    CHECK(rd_write_all(stream.write_fd, bytes, sizeof bytes));
    bool is_full = rd_ring_is_full(stream.ring);
    if (!is_full && rd_wait_fd(rd_reader_poll_fd(stream.reader), POLLIN, 0) == 1) rd_reader_woken(stream.reader);
  }
  while (!rd_ring_is_full(stream.ring)) await_news(&stream);
  rd_reader_woken(stream.reader);
  CHECK(rd_ring_filled(stream.ring) == RING_BYTES);
  rd_cleanup_fd(&stream.write_fd);
  take_to_end(&stream);
  CHECK(stream.taken > RING_BYTES + RING_BYTES / 2 - sizeof bytes &&
        rd_reader_state(stream.reader, &error) == RD_READER_AT_END);
  close_stream(&stream);
}

static void test_unreadable(void) {
  struct stream stream;
  open_stream(&stream, true);
  struct linger at_once = {.l_onoff = 1};
  CHECK(setsockopt(stream.write_fd, SOL_SOCKET, SO_LINGER, &at_once, sizeof at_once) == 0);
  CHECK(rd_write_all(stream.read_fd, "x", 1)); // unread data at the other end makes its close a reset
  rd_cleanup_fd(&stream.write_fd);
  take_to_end(&stream);
  CHECK(rd_reader_state(stream.reader, &error) == RD_READER_FAILED && error.code == RD_CODE_SOURCE_UNREADABLE);
  close_stream(&stream);
}

// A waiting thread and a waiting owner are both stopped.
static void test_stop(void) {
  struct stream stream;
  open_stream(&stream, false);
  close_stream(&stream);
  open_stream(&stream, false);
  char bytes[20000] = "";
  CHECK(rd_write_all(stream.write_fd, bytes, sizeof bytes));
  take_until(&stream, sizeof bytes);
  close_stream(&stream);
}

int main(void) {
  for (int socket = 0; socket < 2; socket++) {
    test_bit_by_bit(socket);
    test_much(socket);
  }
  test_another_process_reads();
  test_full_ring();
  test_unreadable();
  test_stop();
  return test_end("reader");
}
