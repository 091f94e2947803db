// SPDX-License-Identifier: Apache-2.0
// Fuzzes rdrecv's loop after the handshake with frames of a sender that holds the key.
// There are no threads, ciphers or files (see loop_harness.h), and this file implements the sink. For any input the
// written bytes are the beginning of the stream, the sink is committed only after a correct END, and an honest sender
// receives DONE.
#include "base/protocol_version.h"
#include "loop_harness.h"
#include "recv_loop.h"
#include "sink/sink.h"

enum sink_kind { SINK_FILE, SINK_FD, SINK_HELD, SINK_LATE };

struct rd_sink {
  enum sink_kind kind;
  size_t room;                        // bytes that the sink accepts now
  bool fails, reader_gone, is_broken; // is_broken: it failed, or its reader went away
  uint64_t written;
  bool was_begun, was_committed;
};

static struct loop_harness end;
static struct rd_sink sink;
static unsigned sinks;   // number of open sinks
static bool is_given_up; // by the agent

static void make_end(struct fuzz_input *input);
static void add_sink(void);
static void act(struct loop_harness *harness, uint8_t op);
static short ready(const struct loop_harness *harness, const struct pollfd *polled);
static bool wind_up(struct loop_harness *harness);
static bool must_succeed(void);
static void check(void);
static void check_bytes(const unsigned char *bytes, size_t count);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  struct fuzz_input input = {data, size};
  make_end(&input);
  loop_harness_run(&end);
  check();
  loop_harness_clear(&end);
  return 0;
}

static void make_end(struct fuzz_input *input) {
  uint8_t how = fuzz_u8(input), more = fuzz_u8(input);
  end = (struct loop_harness){.act = act, .ready = ready, .wind_up = wind_up};
  end.protection = loop_harness_protection(how);
  end.compresses = more & 128;
  end.chacha = how & 2;
  end.adopts = how & 4;
  end.frames_a_key = how & 8 ? 3 : 0;
  end.is_slow = how & 16;
  is_given_up = false;
  sink = (struct rd_sink){.kind = (enum sink_kind)(how >> 5 & 3), .room = how & 128 ? 0 : SIZE_MAX};
  end.slots = 2u + more % 8;
  end.slot_bytes = more & 8 ? 4096 : 9000;
  end.small_slots = more >> 4;
  end.hello.version = RD_PROTOCOL_VERSION;
  loop_harness_init(&end, rd_recv_loop, RD_ROLE_RECEIVER);
  end.input = *input;
  if (sink.kind != SINK_LATE) add_sink();
  end.peer.stream_is_known = true;
}

static void add_sink(void) {
  struct rd_command *command = loop_harness_command(&end, sink.kind == SINK_FILE ? RD_COMMAND_FILE : RD_COMMAND_READY);
  if (command == NULL) return;
  command->asks = sink.kind == SINK_HELD;
  if (sink.kind != SINK_FILE) command->fd = FAKE_OUTPUT_FD;
}

static void act(struct loop_harness *harness, uint8_t op) {
  struct rd_command *command;
  switch (op) {
  case 0xe0:
    sink.room = fuzz_u16(&harness->input);
    break;
  case 0xe1:
    sink.room = SIZE_MAX;
    break;
  case 0xe2:
    sink.fails = true;
    break;
  case 0xe3:
    sink.reader_gone = true;
    break;
  case 0xe4:
    add_sink();
    break;
  case 0xe5:
    loop_harness_command(harness, RD_COMMAND_SHOW);
    break;
  case 0xe6:
    command = loop_harness_command(harness, fuzz_u8(&harness->input) & 1 ? RD_COMMAND_ABORT : RD_COMMAND_LOST);
    if (command == NULL) break;
    command->code = RD_CODE_ABORTED;
    is_given_up = true;
    break;
  default:
    phony_peer_say(&harness->peer, RD_FRAME_DATA, 1u + fuzz_u8(&harness->input));
  }
}

static short ready(const struct loop_harness *harness, const struct pollfd *polled) {
  (void)harness;
  if (polled->fd != FAKE_OUTPUT_FD) return 0;
  short room = sink.room > 0 || sink.fails ? (short)(polled->events & POLLOUT) : 0;
  return sink.reader_gone ? (short)(POLLERR | room) : room;
}

static bool wind_up(struct loop_harness *harness) {
  struct phony_peer *peer = &harness->peer;
  sink.room = SIZE_MAX;
  if (peer->heard_done) phony_peer_say(peer, RD_FRAME_BYE, 0);
  return must_succeed() && !peer->deaf;
}

static bool must_succeed(void) {
  const struct phony_peer *peer = &end.peer;
  return peer->joined && peer->said_end && !peer->misbehaved && !peer->overdrawn && !peer->mute && !peer->heard_done &&
         !is_given_up && sinks > 0 && !sink.fails && !sink.reader_gone;
}

static void check(void) {
  const struct script *script = &end.script;
  const struct phony_peer *peer = &end.peer;
  FUZZ_REQUIRE(!must_succeed());
  FUZZ_REQUIRE(sinks == 0);
  FUZZ_REQUIRE(script->ended == (script->code == RD_CODE_OK) && script->ended == sink.was_committed);
  FUZZ_REQUIRE(!peer->heard_done || script->ended);
  FUZZ_REQUIRE(!script->ended || sink.written == script->bytes);
  FUZZ_REQUIRE(!script->ended || peer->spoke_early || (peer->ended && script->bytes == peer->end_bytes));
}

static void check_bytes(const unsigned char *bytes, size_t count) {
  const struct phony_peer *peer = &end.peer;
  FUZZ_REQUIRE(!sink.was_committed);
  if (peer->stream_is_known) FUZZ_REQUIRE(phony_are(sink.written, count, bytes));
  if (peer->misbehaved || count == 0) return;
  FUZZ_REQUIRE(sink.written + count <= peer->said_bytes);
  FUZZ_REQUIRE(memcmp(bytes, peer->stream + sink.written, count) == 0);
}

// Replaces sink.c.
static struct rd_sink *open_sink(void) {
  sinks++;
  return &sink;
}

struct rd_sink *rd_sink_from_fd(int fd) {
  (void)fd;
  return open_sink();
}

struct rd_sink *rd_sink_from_ring(int fd, struct rd_shared_ring *shared, struct rd_error *error) {
  (void)error;
  rd_shared_ring_destroy(shared);
  return rd_sink_from_fd(fd);
}

struct rd_sink *rd_sink_open(const char *path, bool append, struct rd_error *error) {
  (void)path, (void)append, (void)error;
  return open_sink();
}

void rd_sink_destroy(struct rd_sink *destroyed) {
  if (destroyed != NULL) sinks--;
}

bool rd_sink_never_blocks(const struct rd_sink *asked) {
  (void)asked;
  return true;
}

ssize_t rd_sink_write_now(struct rd_sink *to, const unsigned char *bytes, size_t count, struct rd_error *error) {
  FUZZ_REQUIRE(!to->is_broken);
  to->is_broken = to->fails || to->reader_gone;
  if (to->fails)
    rd_error_set(error, RD_CODE_SINK_UNWRITABLE, "the disk is full");
  else if (to->reader_gone)
    rd_error_set(error, RD_CODE_CLOSED, "no process reads");
  if (to->is_broken) return -1;
  size_t taken = count < to->room ? count : to->room;
  check_bytes(bytes, taken);
  if (to->room != SIZE_MAX) to->room -= taken;
  to->written += taken;
  return (ssize_t)taken;
}

bool rd_sink_write(struct rd_sink *to, const unsigned char *bytes, size_t count, const atomic_bool *stop,
                   struct rd_error *error) {
  (void)bytes, (void)stop, (void)error;
  FUZZ_REQUIRE(count == 0 && !to->is_broken);
  return true;
}

bool rd_sink_commit(struct rd_sink *committed, struct rd_error *error) {
  FUZZ_REQUIRE(!committed->is_broken && !committed->was_committed);
  committed->was_committed = !committed->fails;
  if (committed->fails) rd_error_set(error, RD_CODE_SINK_UNWRITABLE, "the disk is full");
  return committed->was_committed;
}

int rd_sink_directory_fd(const struct rd_sink *none) {
  (void)none;
  return -1;
}

int rd_sink_watch_fd(const struct rd_sink *watched) {
  return watched->kind == SINK_FILE ? -1 : FAKE_OUTPUT_FD;
}
