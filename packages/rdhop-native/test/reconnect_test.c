// SPDX-License-Identifier: Apache-2.0
// Tests of connections that break during a stream, in every manner and at every moment.
// The stream arrives completely, or both ends report the loss.
#include "breaking_proxy.h"
#include "recv_loop.h"
#include "script_control.h"
#include "send_loop.h"
#include "stream_files.h"

#include <signal.h>

#define STALL_MS WAIT_MS

static int compress_level; // of the streams that follow

struct stream {
  enum rd_role is_dialer;
  enum rd_encrypt encrypt;
  size_t buffer_bytes, bytes;
  int64_t stall_ms;
  int output_fd; // of the receiver; 0: it writes a file
};

struct outcome {
  struct script sender, receiver;
  bool arrived;
};

static void command(struct script *script, const struct stream *stream, const char *path, bool dialer, uint16_t port) {
  struct rd_settings *settings = &script_add(script, RD_COMMAND_OPEN)->settings;
  *settings = script_settings(stream->encrypt, stream->buffer_bytes);
  settings->stall_timeout_ms = stream->stall_ms;
  settings->compress = compress_level;
  settings->jobs = 2;
  if (stream->output_fd > 0 && script->loop == rd_recv_loop)
    script_add(script, RD_COMMAND_READY)->fd = stream->output_fd;
  else
    strcpy(script_add(script, RD_COMMAND_FILE)->path, path);
  struct rd_command *way = script_add(script, dialer ? RD_COMMAND_DIAL : RD_COMMAND_LISTEN);
  way->address_count = 1;
  way->addresses[0] = (struct rd_address){.host = "127.0.0.1", .port = port};
  script_add(script, RD_COMMAND_COMMIT);
}

static void begin(struct outcome *outcome, const struct stream *stream, struct proxy *proxy) {
  bool sender_dials = stream->is_dialer == RD_ROLE_SENDER;
  if (compress_level > 0)
    write_mixed_source(stream->bytes);
  else
    write_source(stream->bytes);
  unlink(sink_path);
  proxy_open(proxy);
  script_init(&outcome->sender, rd_send_loop);
  script_init(&outcome->receiver, rd_recv_loop);
  command(&outcome->sender, stream, source_path, sender_dials, proxy->port);
  command(&outcome->receiver, stream, sink_path, !sender_dials, proxy->port);
  struct script *listener = sender_dials ? &outcome->receiver : &outcome->sender;
  script_start(listener);
  while (listener->port == 0) sched_yield();
  proxy->to_port = (uint16_t)listener->port;
  proxy_start(proxy);
  script_start(sender_dials ? &outcome->sender : &outcome->receiver);
}

static void end(struct outcome *outcome, struct proxy *proxy) {
  struct script *dialling = &outcome->sender, *listening = &outcome->receiver;
  if (outcome->receiver.port == 0) dialling = &outcome->receiver, listening = &outcome->sender;
  script_join(dialling);
  // A listener waits until it is commanded otherwise.
  if (!dialling->connected) listening->aborts = true;
  script_join(listening);
  proxy_end(proxy);
  outcome->arrived = same_files();
}

static void expect_whole(const struct outcome *outcome, const char *what) {
  bool whole = outcome->sender.code == RD_CODE_OK && outcome->receiver.code == RD_CODE_OK && outcome->arrived;
  if (!CHECK(whole))
    fprintf(stderr, "%s: sender %d (%s), receiver %d (%s)\n", what, (int)outcome->sender.code,
            outcome->sender.end.message, (int)outcome->receiver.code, outcome->receiver.end.message);
}

// Breaks several times in one stream.
static void break_often(enum breaking breaking, enum rd_role is_dialer, enum rd_encrypt encrypt, size_t buffer_bytes) {
  struct stream stream = {is_dialer, encrypt, buffer_bytes, compress_level > 0 ? 8000000 : 4000000, STALL_MS, 0};
  // If only one side sees the break, the other side must notice the silence.
  unsigned breaks = breaking == BREAK_RESET_LISTENER ? 1 : 4;
  struct proxy proxy = {.breaking = breaking, .every_bytes = 700000, .breaks = breaks};
  struct outcome outcome;
  begin(&outcome, &stream, &proxy);
  end(&outcome, &proxy);
  expect_whole(&outcome, "broken often");
  CHECK(proxy.broken == breaks && outcome.sender.resumed >= breaks && outcome.receiver.resumed >= breaks);
}

// Breaks once, after this many bytes. Until both ends are connected, the only guarantee is that both end.
static bool break_once(size_t after_bytes, enum rd_role is_dialer, enum rd_encrypt encrypt, enum breaking breaking) {
  struct stream stream = {is_dialer, encrypt, 64 << 10, 100000, STALL_MS, 0};
  struct proxy proxy = {.breaking = breaking, .every_bytes = after_bytes, .breaks = 1};
  struct outcome outcome;
  char what[64];
  begin(&outcome, &stream, &proxy);
  end(&outcome, &proxy);
  snprintf(what, sizeof what, "broken after %zu bytes", after_bytes);
  bool began = outcome.sender.connected && outcome.receiver.connected;
  if (began) expect_whole(&outcome, what);
  if (!began) CHECK(outcome.sender.code != RD_CODE_OK && outcome.receiver.code != RD_CODE_OK);
  return proxy.broken > 0;
}

static void break_at_many_moments(size_t after_bytes, enum rd_role is_dialer, enum rd_encrypt encrypt,
                                  enum breaking breaking) {
  unsigned moments = 0;
  while (break_once(after_bytes, is_dialer, encrypt, breaking)) {
    bool in_the_middle = after_bytes > 6000 && after_bytes < 98000;
    after_bytes += in_the_middle ? 23000 : 388;
    moments++;
  }
  CHECK(moments > 16);
}

// The peer is gone permanently: the dialing end notices immediately, the listening end when its time is up.
static void peer_gone(enum rd_role is_dialer) {
  struct stream stream = {is_dialer, RD_ENCRYPT_NEVER, 64 << 10, 8000000, 3000, 0};
  struct proxy proxy = {.breaking = BREAK_CLOSE, .every_bytes = 700000, .breaks = 2, .dies = true};
  struct outcome outcome;
  begin(&outcome, &stream, &proxy);
  end(&outcome, &proxy);
  const struct script *dialled = is_dialer == RD_ROLE_SENDER ? &outcome.sender : &outcome.receiver;
  const struct script *listened = is_dialer == RD_ROLE_SENDER ? &outcome.receiver : &outcome.sender;
  CHECK(dialled->code == RD_CODE_PEER_LOST && strstr(dialled->end.message, "connection refused") != NULL);
  CHECK(listened->code == RD_CODE_PEER_LOST &&
        strstr(listened->end.message, "no new connection was made in time") != NULL);
  CHECK(access(sink_path, F_OK) != 0);
}

// Nothing is received any more, but another connection works.
static void silence(enum rd_role is_dialer) {
  struct stream stream = {is_dialer, RD_ENCRYPT_ALWAYS, 64 << 10, 1000000, STALL_MS / 4, 0};
  struct proxy proxy = {.breaking = BREAK_SILENCE, .every_bytes = 700000, .breaks = 1};
  struct outcome outcome;
  begin(&outcome, &stream, &proxy);
  end(&outcome, &proxy);
  expect_whole(&outcome, "silence");
}

// Every connection completes the handshake but carries no data: that does not count as a sign of life.
static void handshakes_only(void) {
  struct stream stream = {RD_ROLE_RECEIVER, RD_ENCRYPT_NEVER, 1 << 20, 4000000, 3000, 0};
  struct proxy proxy = {.breaking = BREAK_SILENCE, .every_bytes = 4000, .breaks = 1000};
  struct outcome outcome;
  begin(&outcome, &stream, &proxy);
  end(&outcome, &proxy);
  CHECK(proxy.broken > 1 && outcome.sender.code != RD_CODE_OK);
  CHECK(rd_code_is_loss(outcome.receiver.code) || outcome.receiver.code == RD_CODE_PEER_STALLED);
}

// While a consumer does not read, the frame that is being written stays in place, whatever the connections do.
static void slow_consumer(enum rd_role is_dialer, enum rd_encrypt encrypt) {
  int fds[2];
  REQUIRE(pipe2(fds, O_CLOEXEC) == 0);
  struct stream stream = {is_dialer, encrypt, 256 << 10, compress_level > 0 ? 6000000 : 3000000, STALL_MS, fds[1]};
  struct proxy proxy = {.breaking = BREAK_RESET, .every_bytes = 400000, .breaks = 6};
  struct outcome outcome;
  begin(&outcome, &stream, &proxy);
  while (proxy.broken == 0) sched_yield();
  int sink = open(sink_path, O_WRONLY | O_CREAT | O_CLOEXEC, 0600);
  unsigned char bytes[10000];
  ssize_t got;
  REQUIRE(sink >= 0);
  while ((got = read(fds[0], bytes, sizeof bytes)) > 0) {
    REQUIRE(rd_write_all(sink, bytes, (size_t)got));
    if (proxy.broken == proxy.breaks) continue;
    struct pollfd more = {.fd = fds[0], .events = POLLIN};
    poll(&more, 1, 1);
  }
  close(sink);
  close(fds[0]);
  end(&outcome, &proxy);
  expect_whole(&outcome, "slow consumer");
  CHECK(proxy.broken == 6);
}

int main(void) {
  static const enum rd_encrypt encrypts[] = {RD_ENCRYPT_NEVER, RD_ENCRYPT_AUTH, RD_ENCRYPT_ALWAYS};
  signal(SIGPIPE, SIG_IGN);
  make_stream_files("reconnect");
  for (int i = 0; i < 6; i++) {
    enum rd_role is_dialer = i & 1 ? RD_ROLE_SENDER : RD_ROLE_RECEIVER;
    enum rd_encrypt encrypt = encrypts[i / 2];
    for (enum breaking breaking = BREAK_CLOSE; breaking < BREAK_SILENCE && i % 2 == i / 2 % 2; breaking++)
      break_often(breaking, is_dialer, encrypt, i & 1 ? 64 << 10 : 1 << 20);
    break_at_many_moments(1000 + (size_t)i * 97, is_dialer, encrypt, i & 1 ? BREAK_CLOSE : BREAK_RESET);
    slow_consumer(is_dialer, encrypt);
  }
  compress_level = 1;
  for (int i = 0; i < 6; i++) {
    enum rd_role is_dialer = i & 1 ? RD_ROLE_SENDER : RD_ROLE_RECEIVER;
    enum rd_encrypt encrypt = encrypts[i / 2];
    break_often(i & 1 ? BREAK_CLOSE : BREAK_RESET, is_dialer, encrypt, 1 << 20);
    slow_consumer(is_dialer, encrypt);
  }
  compress_level = 0;
  handshakes_only();
  for (int i = 0; i < 2; i++) {
    peer_gone(i ? RD_ROLE_SENDER : RD_ROLE_RECEIVER);
    silence(i ? RD_ROLE_SENDER : RD_ROLE_RECEIVER);
  }
  remove_stream_files();
  return test_end("reconnect");
}
