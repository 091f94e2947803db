// SPDX-License-Identifier: Apache-2.0
// Fuzzes complete sessions of rdsend's loop with a receiver that holds the key.
// The receiver does what the input says. For any input, the stream equals the source, END comes only after the
// producer's good end, and success only after DONE.
#include "base/cleanup.h"
#include "base/io.h"
#include "base/protocol_version.h"
#include "session.h"

#include <fcntl.h>

#define SOURCE_MAX_BYTES 60000u // fits in a pipe
#define END_MS 5000

enum source { SOURCE_FILE, SOURCE_PIPE, SOURCE_OPEN_PIPE, SOURCE_NONE };

static struct rd_hello any_hello(uint8_t how, uint8_t more, struct fuzz_input *input);
static bool is_possible(const struct rd_hello *hello);
static void prepare_source(struct script *script, enum source source, size_t bytes, int *read_fd, int *write_fd);
static void fill(int fd, size_t bytes);
static void pump(struct session *session, struct fuzz_input *input, bool can_end);
static bool is_honest(const struct phony_peer *peer);
static void check(const struct script *script, const struct phony_peer *peer, size_t source_bytes, bool can_end);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  struct fuzz_input input = {data, size};
  uint8_t how = fuzz_u8(&input), more = fuzz_u8(&input);
  enum source source = (enum source)(how >> 1 & 3);
  enum session_way way = (enum session_way)(more & 3);
  enum rd_encrypt wanted = more & 4 ? RD_ENCRYPT_AUTH : RD_ENCRYPT_ALWAYS;
  enum rd_encrypt encrypt = how & 1 ? wanted : RD_ENCRYPT_NEVER;
  bool commits = !(how & 16);
  size_t source_bytes = fuzz_u16(&input) % SOURCE_MAX_BYTES;
  struct session session = {.hello = any_hello(how, more, &input)};
  RD_AUTO_CLOSE int read_fd = -1;
  RD_AUTO_CLOSE int write_fd = -1;
  session_begin(&session, RD_ROLE_SENDER, encrypt, way);
  prepare_source(&session.script, source, source_bytes, &read_fd, &write_fd);
  if (commits) script_add(&session.script, RD_COMMAND_COMMIT);
  script_start(&session.script);
  bool can_end = is_possible(&session.hello) && commits && source != SOURCE_NONE && source != SOURCE_OPEN_PIPE;
  if (session_join(&session)) pump(&session, &input, can_end);
  session_end(&session);
  FUZZ_REQUIRE(!session.script.connected || is_possible(&session.hello));
  check(&session.script, &session.peer, source_bytes, can_end);
  session_clear(&session);
  return 0;
}

static struct rd_hello any_hello(uint8_t how, uint8_t more, struct fuzz_input *input) {
  struct rd_hello hello = {.version = RD_PROTOCOL_VERSION, .epoch = 1};
  if (how & 32) hello.wants = more & 8 ? RD_PROTECTION_MAC : RD_PROTECTION_SEAL;
  hello.slots = how & 64 ? fuzz_u32(input) : 1u + fuzz_u8(input) % 8;
  hello.slot_bytes = how & 128 ? fuzz_u32(input) : 4096;
  hello.small_slots = hello.slots / 2;
  return hello;
}

static bool is_possible(const struct rd_hello *hello) {
  return hello->slots > 0 && hello->slots <= 1u << 16 && hello->slot_bytes > 0 &&
         hello->slot_bytes <= RD_SLOT_MAX_BYTES;
}

// Creates the source; for a pipe the ends that stay open are returned.
static void prepare_source(struct script *script, enum source source, size_t bytes, int *read_fd, int *write_fd) {
  int ends[2] = {-1, -1};
  if (source == SOURCE_NONE) return;
  struct rd_command *command = script_add(script, source == SOURCE_FILE ? RD_COMMAND_FILE : RD_COMMAND_READY);
  snprintf(command->path, sizeof command->path, "%s/source", session_directory());
  if (source == SOURCE_FILE)
    ends[1] = open(command->path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
  else
    FUZZ_REQUIRE(pipe2(ends, O_CLOEXEC) == 0);
  fill(ends[1], bytes);
  command->fd = *read_fd = ends[0];
  *write_fd = ends[1];
  if (source != SOURCE_OPEN_PIPE) rd_cleanup_fd(write_fd);
}

static void fill(int fd, size_t bytes) {
  static unsigned char text[SOURCE_MAX_BYTES];
  phony_bytes(0, bytes, text);
  FUZZ_REQUIRE(fd >= 0 && rd_write_all(fd, text, bytes));
}

// An honest receiver gets END in the end, if it acknowledges the received data.
static void pump(struct session *session, struct fuzz_input *input, bool can_end) {
  struct phony_peer *peer = &session->peer;
  session_act(session, input);
  while (can_end && is_honest(peer) && !peer->heard_end) {
    uint64_t heard_before = peer->heard_bytes;
    if (peer->heard_bytes > 0) phony_peer_say(peer, RD_FRAME_ACK, 0);
    (void)phony_peer_hear(peer, RD_FRAME_DATA, peer->heard_end ? 0 : END_MS);
    FUZZ_REQUIRE(peer->heard_end || peer->heard_bytes > heard_before);
  }
}

static bool is_honest(const struct phony_peer *peer) {
  return peer->joined && !peer->resume_owed && !peer->misbehaved && !peer->mute && !peer->said_closed;
}

static void check(const struct script *script, const struct phony_peer *peer, size_t source_bytes, bool can_end) {
  FUZZ_REQUIRE(script->code != RD_CODE_OK || peer->said_done);
  FUZZ_REQUIRE(!peer->heard_end || can_end);
  if (peer->misbehaved) return;
  FUZZ_REQUIRE(peer->heard_bytes <= source_bytes);
  FUZZ_REQUIRE(!peer->heard_end || (can_end && peer->heard_bytes == source_bytes));
  if (peer->heard_end && peer->protection == RD_PROTECTION_NONE) {
    unsigned char digest[RD_DIGEST_BYTES];
    rd_digest_value(peer->digest, digest);
    FUZZ_REQUIRE(memcmp(digest, peer->end.digest, sizeof digest) == 0);
  }
}
