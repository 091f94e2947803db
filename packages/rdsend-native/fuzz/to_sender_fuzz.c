// SPDX-License-Identifier: Apache-2.0
// Fuzzes rdsend's loop after the handshake with frames of a receiver that holds the key.
// There are no threads, ciphers or files (see loop_harness.h), and this file implements the source. For any input DATA
// contains the source's bytes in order and within the credit, END comes only after all of them and the producer's good
// end, and success only after DONE.
#include "base/protocol_version.h"
#include "loop_harness.h"
#include "send_loop.h"
#include "source/source.h"

#define SOURCE_MAX_BYTES 60000u
#define FRAMES_MAX 50u

struct rd_source {
  bool is_file, stays_open, fails;
  bool has_ended;
  size_t bytes, given;
  size_t ready; // bytes that can be read now
};

static struct loop_harness end;
static struct rd_source source;
static unsigned sources; // number of open sources
static bool has_source, has_committed;
static bool is_given_up; // by the agent

static void make_end(struct fuzz_input *input);
static struct rd_hello any_hello(uint8_t how, struct fuzz_input *input);
static void add_source(void);
static void act(struct loop_harness *harness, uint8_t op);
static short ready(const struct loop_harness *harness, const struct pollfd *polled);
static bool is_readable(void);
static bool wind_up(struct loop_harness *harness);
static void acknowledge(struct phony_peer *peer);
static bool is_honest(void);
static void check(void);

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
  end.chacha = how & 2;
  end.adopts = how & 4;
  end.frames_a_key = how & 8 ? 3 : 0;
  end.is_slow = how & 16;
  source = (struct rd_source){.is_file = how & 32, .bytes = fuzz_u16(input) % SOURCE_MAX_BYTES};
  source.ready = how & 64 ? 0 : SIZE_MAX;
  end.hello = any_hello(more, input);
  size_t most_bytes = (size_t)end.hello.slot_bytes * FRAMES_MAX;
  if (source.bytes > most_bytes) source.bytes = most_bytes;
  loop_harness_init(&end, rd_send_loop, RD_ROLE_SENDER);
  if (more & 4) ((struct rd_command *)&end.script.commands[0])->settings.compress = 1;
  end.compresses = more & 4 && end.hello.features & RD_FEATURE_ZSTD;
  end.input = *input;
  has_source = has_committed = is_given_up = false;
  if (!(how & 128)) add_source();
  if (more & 8) return;
  loop_harness_command(&end, RD_COMMAND_COMMIT);
  has_committed = true;
}

// Returns a HELLO that the handshake would accept.
static struct rd_hello any_hello(uint8_t how, struct fuzz_input *input) {
  struct rd_hello hello = {.version = RD_PROTOCOL_VERSION, .features = how & 16 ? fuzz_u64(input) : RD_FEATURE_ZSTD};
  hello.slots = how & 32 ? 1u + fuzz_u16(input) : 1u + (how & 3) * 3;
  hello.slot_bytes = how & 64 ? 1u + fuzz_u32(input) % RD_SLOT_MAX_BYTES : 4096;
  hello.small_slots = how & 128 ? fuzz_u16(input) : hello.slots / 2;
  return hello;
}

static void add_source(void) {
  if (loop_harness_command(&end, source.is_file ? RD_COMMAND_FILE : RD_COMMAND_READY) != NULL) has_source = true;
}

static void act(struct loop_harness *harness, uint8_t op) {
  struct rd_command *command;
  switch (op) {
  case 0xe0:
    source.ready = fuzz_u16(&harness->input);
    break;
  case 0xe1:
    source.ready = SIZE_MAX;
    break;
  case 0xe2:
    source.fails = true;
    break;
  case 0xe3:
    source.stays_open = true;
    break;
  case 0xe4:
    if (!has_source) add_source();
    break;
  case 0xe5:
    if (loop_harness_command(harness, RD_COMMAND_COMMIT) != NULL) has_committed = true;
    break;
  case 0xe6:
    command = loop_harness_command(harness, fuzz_u8(&harness->input) & 1 ? RD_COMMAND_ABORT : RD_COMMAND_LOST);
    if (command == NULL) break;
    command->code = RD_CODE_ABORTED;
    is_given_up = true;
    break;
  default:
    acknowledge(&harness->peer);
  }
}

static short ready(const struct loop_harness *harness, const struct pollfd *polled) {
  (void)harness;
  return polled->fd == FAKE_INPUT_FD && is_readable() ? POLLIN : 0;
}

static bool is_readable(void) {
  return source.fails || source.ready > 0;
}

// An honest receiver gets END in the end, if it acknowledges the received data.
static bool wind_up(struct loop_harness *harness) {
  struct phony_peer *peer = &harness->peer;
  if (!source.stays_open) source.ready = SIZE_MAX;
  if (!is_honest()) return false;
  if (peer->heard_end)
    phony_peer_say(peer, RD_FRAME_DONE, 0);
  else
    acknowledge(peer);
  return true;
}

static void acknowledge(struct phony_peer *peer) {
  phony_peer_say(peer, peer->heard_bytes > 0 ? RD_FRAME_ACK : RD_FRAME_PING, 0);
}

static bool is_honest(void) {
  const struct phony_peer *peer = &end.peer;
  bool can_end = has_source && !is_given_up && has_committed && !source.stays_open && !source.fails;
  return can_end && peer->joined && !peer->resume_owed && !peer->misbehaved && !peer->mute && !peer->said_closed &&
         !peer->said_done && !peer->deaf;
}

static void check(void) {
  const struct script *script = &end.script;
  const struct phony_peer *peer = &end.peer;
  if (peer->joined) (void)phony_peer_hear(&end.peer, 0, 0); // its last frames
  FUZZ_REQUIRE(!is_honest());
  FUZZ_REQUIRE(sources == 0);
  FUZZ_REQUIRE(script->code != RD_CODE_OK || (peer->said_done && (peer->heard_an_end || end.stalled > 0)));
  FUZZ_REQUIRE(!peer->heard_end || (has_committed && source.has_ended));
  if (peer->misbehaved) return;
  FUZZ_REQUIRE(peer->heard_bytes <= source.bytes);
  FUZZ_REQUIRE(!peer->heard_end || peer->heard_bytes == source.bytes);
  if (!peer->heard_end || peer->protection != RD_PROTECTION_NONE) return;
  unsigned char digest[RD_DIGEST_BYTES];
  rd_digest_value(peer->digest, digest);
  FUZZ_REQUIRE(memcmp(digest, peer->end.digest, sizeof digest) == 0);
}

// Replaces source.c.
static struct rd_source *open_source(void) {
  sources++;
  return &source;
}

struct rd_source *rd_source_from_fd(int fd) {
  (void)fd;
  return open_source();
}

struct rd_source *rd_source_open(const char *path, struct rd_error *error) {
  (void)path, (void)error;
  return open_source();
}

void rd_source_destroy(struct rd_source *destroyed) {
  if (destroyed != NULL) sources--;
}

int64_t rd_source_size(const struct rd_source *asked) {
  return asked->is_file ? (int64_t)asked->bytes : -1;
}

int rd_source_poll_fd(const struct rd_source *asked) {
  (void)asked;
  return FAKE_INPUT_FD;
}

ssize_t rd_source_read(struct rd_source *from, void *bytes, size_t most, const atomic_bool *stop,
                       struct rd_error *error) {
  (void)from, (void)bytes, (void)most, (void)stop, (void)error;
  FUZZ_REQUIRE(false); // only a thread would call it
  return -1;
}

ssize_t rd_source_read_now(struct rd_source *from, void *bytes, size_t most, struct rd_error *error) {
  size_t left = from->bytes - from->given, count = most < left ? most : left;
  if (from->fails)
    rd_error_set(error, RD_CODE_SOURCE_UNREADABLE, "the disk is broken");
  else
    error->code = RD_CODE_OK;
  if (from->fails || from->ready == 0 || (left == 0 && from->stays_open)) return -1;
  if (count > from->ready) count = from->ready;
  if (from->ready != SIZE_MAX) from->ready -= count;
  phony_bytes(from->given, count, bytes);
  from->given += count;
  from->has_ended = count == 0;
  return (ssize_t)count;
}
