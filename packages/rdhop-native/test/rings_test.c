// SPDX-License-Identifier: Apache-2.0
// Tests of a hop between programs that share a ring with each end, as those of a copy do.
// The stream arrives completely, also over connections that break, or both ends end with the reason.
#include "breaking_proxy.h"
#include "recv_loop.h"
#include "script_control.h"
#include "send_loop.h"
#include "stream_files.h"

#include <signal.h>

enum { PIECE_BYTES = 300007 };

// A program of a copy: its side of the ring, and the end of the pipe that shows the end of the stream.
struct program {
  struct rd_shared_ring *shared;
  int pipe_fd, hop_fd; // its end of the pipe, and that of the hop's program
  int file_fd;
  pthread_t thread;
};

struct run {
  struct script sender, receiver;
  struct program producer, consumer;
  struct proxy proxy;
};

static void open_end(struct script *script, struct program *program, enum rd_encrypt encrypt, size_t buffer_bytes,
                     uint16_t port) {
  bool sends = script->loop == rd_send_loop;
  struct rd_ring_fds fds[2];
  struct rd_error error;
  int ends[2];
  REQUIRE(rd_ring_fds_create(fds, &error) && pipe2(ends, O_CLOEXEC) == 0);
  script_add(script, RD_COMMAND_OPEN)->settings = script_settings(encrypt, buffer_bytes);
  script_add(script, RD_COMMAND_RING)->ring_fds = fds[0];
  script_add(script, RD_COMMAND_READY)->fd = program->hop_fd = ends[sends ? 0 : 1];
  program->shared = rd_shared_ring_open(sends ? RD_RING_WRITER : RD_RING_READER, fds[1], &error);
  program->pipe_fd = ends[sends ? 1 : 0];
  REQUIRE(program->shared != NULL);
  struct rd_command *way = script_add(script, sends ? RD_COMMAND_DIAL : RD_COMMAND_LISTEN);
  way->address_count = 1;
  way->addresses[0] = (struct rd_address){.host = "127.0.0.1", .port = port};
}

// Returns false if the other side is gone.
static bool wait_for_news(struct rd_shared_ring *shared) {
  int bell_fd = rd_shared_ring_poll_fd(shared);
  if (bell_fd < 0) return false;
  REQUIRE(rd_wait_fd(bell_fd, POLLIN, WAIT_MS) == 1);
  rd_shared_ring_woken(shared);
  return true;
}

static bool produce_piece(struct rd_shared_ring *shared, const unsigned char *piece, size_t count) {
  struct rd_error error;
  for (;;) {
    rd_shared_ring_expect_news(shared);
    struct rd_ring *ring = rd_shared_ring_get(shared, &error);
    if (ring != NULL && rd_ring_put(ring, piece, count)) break;
    if (!wait_for_news(shared)) return false;
  }
  rd_shared_ring_tell(shared);
  return true;
}

static void *produce(void *context) {
  struct program *program = context;
  static unsigned char piece[PIECE_BYTES];
  ssize_t got;
  program->file_fd = open(source_path, O_RDONLY | O_CLOEXEC);
  while ((got = rd_read_some(program->file_fd, piece, sizeof piece)) > 0)
    if (!produce_piece(program->shared, piece, (size_t)got)) break;
  rd_shared_ring_destroy(program->shared);
  close(program->pipe_fd);
  close(program->file_fd);
  return NULL;
}

static void *consume(void *context) {
  struct program *program = context;
  struct rd_error error;
  program->file_fd = open(sink_path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
  uint64_t offset = 0;
  for (bool has_ended = false;;) {
    const unsigned char *bytes;
    rd_shared_ring_expect_news(program->shared);
    struct rd_ring *ring = rd_shared_ring_get(program->shared, &error);
    size_t count = ring != NULL ? rd_ring_peek(ring, offset, PIECE_BYTES, &bytes) : 0;
    if (count == 0 && has_ended) break;
    if (count > 0) {
      CHECK(rd_write_all(program->file_fd, bytes, count));
      rd_ring_release(ring, offset += count);
      rd_shared_ring_tell(program->shared);
      continue;
    }
    struct pollfd news[] = {{.fd = rd_shared_ring_poll_fd(program->shared), .events = POLLIN},
                            {.fd = program->pipe_fd, .events = POLLIN}};
    REQUIRE(poll(news, 2, WAIT_MS) > 0);
    if (news[0].revents != 0) rd_shared_ring_woken(program->shared);
    has_ended = news[1].revents != 0;
  }
  rd_shared_ring_destroy(program->shared);
  close(program->pipe_fd);
  close(program->file_fd);
  return NULL;
}

static void *leave(void *context) {
  struct program *program = context;
  rd_shared_ring_destroy(program->shared);
  close(program->pipe_fd);
  return NULL;
}

static void begin(struct run *run, enum rd_encrypt encrypt, size_t buffer_bytes, size_t bytes,
                  void *(*consumer)(void *)) {
  write_source(bytes);
  unlink(sink_path);
  proxy_open(&run->proxy);
  script_init(&run->sender, rd_send_loop);
  script_init(&run->receiver, rd_recv_loop);
  open_end(&run->sender, &run->producer, encrypt, buffer_bytes, run->proxy.port);
  open_end(&run->receiver, &run->consumer, encrypt, buffer_bytes, 0);
  script_add(&run->sender, RD_COMMAND_COMMIT)->status = 7;
  REQUIRE(pthread_create(&run->producer.thread, NULL, produce, &run->producer) == 0);
  REQUIRE(pthread_create(&run->consumer.thread, NULL, consumer, &run->consumer) == 0);
  script_start(&run->receiver);
  while (run->receiver.port == 0) sched_yield();
  run->proxy.to_port = (uint16_t)run->receiver.port;
  proxy_start(&run->proxy);
  script_start(&run->sender);
}

static void end(struct run *run) {
  script_join(&run->sender);
  script_join(&run->receiver);
  close(run->producer.hop_fd);
  close(run->consumer.hop_fd);
  pthread_join(run->producer.thread, NULL);
  pthread_join(run->consumer.thread, NULL);
  proxy_end(&run->proxy);
}

static void test_whole(enum rd_encrypt encrypt, size_t buffer_bytes, size_t bytes, unsigned breaks) {
  struct run run = {.proxy = {.breaking = BREAK_CLOSE, .every_bytes = bytes / 6, .breaks = breaks}};
  begin(&run, encrypt, buffer_bytes, bytes, consume);
  end(&run);
  bool whole = run.sender.code == RD_CODE_OK && run.receiver.code == RD_CODE_OK && same_files();
  if (!CHECK(whole)) fprintf(stderr, "sender: %s, receiver: %s\n", run.sender.end.message, run.receiver.end.message);
  CHECK(run.receiver.status == 7 && run.receiver.bytes == bytes);
  CHECK(run.sender.resumed >= breaks && run.receiver.resumed >= breaks);
}

static void test_consumer_gone(void) {
  struct run run = {.proxy = {.breaking = BREAK_CLOSE, .every_bytes = SIZE_MAX}};
  begin(&run, RD_ENCRYPT_NEVER, 1 << 20, 21000001, leave);
  end(&run);
  CHECK(run.sender.code == RD_CODE_CLOSED && run.receiver.code == RD_CODE_CLOSED);
}

int main(void) {
  signal(SIGPIPE, SIG_IGN);
  make_stream_files("rings");
  for (unsigned breaks = 0; breaks <= 4; breaks += 4) {
    test_whole(RD_ENCRYPT_NEVER, 8 << 20, 21000001, breaks);
    test_whole(RD_ENCRYPT_NEVER, 64 << 10, 600001, breaks); // less than the ring
    test_whole(RD_ENCRYPT_ALWAYS, 8 << 20, 21000001, breaks);
  }
  test_consumer_gone();
  remove_stream_files();
  return test_end("rings");
}
