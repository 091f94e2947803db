// SPDX-License-Identifier: Apache-2.0
// Fuzzes complete sessions of rdrecv's loop with a sender that holds the key.
// The sender does what the input says. For any input, a file exists only if all of the stream arrived and END was
// correct.
#include "base/cleanup.h"
#include "base/io.h"
#include "base/protocol_version.h"
#include "session.h"

#include <fcntl.h>
#include <sys/stat.h>

#define DONE_MS 5000

enum sink { SINK_FILE, SINK_APPENDED, SINK_NULL, SINK_NONE };

static const char before[] = "what was there before";

static void prepare_sink(struct script *script, enum sink sink, const char *path, int null_fd);
static void write_file(const char *path, const char *text);
static bool must_succeed(const struct phony_peer *peer, enum sink sink);
static void check_sink(const struct script *script, const struct phony_peer *peer, enum sink sink, const char *path);
static void check_file(const char *path, const char *beginning, const unsigned char *rest, size_t rest_bytes);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  struct fuzz_input input = {data, size};
  uint8_t how = fuzz_u8(&input);
  enum sink sink = (enum sink)(how >> 1 & 3);
  enum session_way way = (enum session_way)(how >> 3 & 3);
  enum rd_encrypt encrypt = how & 1 ? RD_ENCRYPT_ALWAYS : how & 64 ? RD_ENCRYPT_AUTH : RD_ENCRYPT_NEVER;
  bool says_bye = how & 32, chooses = !(how & 128);
  char path[128];
  struct session session = {.hello = {.version = RD_PROTOCOL_VERSION, .lacks_aes = how & 64, .epoch = 1}};
  struct phony_peer *peer = &session.peer;
  RD_AUTO_CLOSE int null_fd = open("/dev/null", O_WRONLY | O_CLOEXEC);
  snprintf(path, sizeof path, "%s/sink", session_directory());
  session_begin(&session, RD_ROLE_RECEIVER, encrypt, way);
  prepare_sink(&session.script, sink, path, null_fd);
  script_start(&session.script);
  if (session_join(&session)) {
    if (chooses) phony_peer_say(peer, RD_FRAME_PING, 0);
    session_act(&session, &input);
    if (chooses && must_succeed(peer, sink)) FUZZ_REQUIRE(phony_peer_hear(peer, RD_FRAME_DONE, DONE_MS));
    if (says_bye) phony_peer_say(peer, RD_FRAME_BYE, 0);
  }
  session_end(&session);
  check_sink(&session.script, peer, sink, path);
  unlink(path);
  session_clear(&session);
  return 0;
}

static void prepare_sink(struct script *script, enum sink sink, const char *path, int null_fd) {
  if (sink == SINK_NONE) return;
  struct rd_command *command = script_add(script, sink == SINK_NULL ? RD_COMMAND_READY : RD_COMMAND_FILE);
  command->fd = null_fd;
  command->append = sink == SINK_APPENDED;
  snprintf(command->path, sizeof command->path, "%s", path);
  if (sink == SINK_APPENDED) write_file(path, before);
}

static void write_file(const char *path, const char *text) {
  RD_AUTO_CLOSE int fd = open(path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
  FUZZ_REQUIRE(fd >= 0 && rd_write_all(fd, text, strlen(text)));
}

static bool must_succeed(const struct phony_peer *peer, enum sink sink) {
  return peer->joined && peer->said_end && !peer->misbehaved && !peer->overdrawn && !peer->mute && !peer->heard_done &&
         sink != SINK_NONE;
}

static void check_sink(const struct script *script, const struct phony_peer *peer, enum sink sink, const char *path) {
  FUZZ_REQUIRE(script->ended == (script->code == RD_CODE_OK));
  FUZZ_REQUIRE(!peer->heard_done || script->ended);
  if (peer->spoke_early) return;
  FUZZ_REQUIRE(!script->ended || (peer->ended && script->bytes == peer->end_bytes));
  if (sink == SINK_FILE && !script->ended) FUZZ_REQUIRE(access(path, F_OK) < 0);
  if (sink == SINK_FILE && script->ended) check_file(path, "", peer->stream, peer->end_bytes);
  if (sink == SINK_APPENDED) check_file(path, before, peer->stream, script->ended ? peer->end_bytes : 0);
}

static void check_file(const char *path, const char *beginning, const unsigned char *rest, size_t rest_bytes) {
  size_t beginning_bytes = strlen(beginning), expected = beginning_bytes + rest_bytes;
  struct stat status;
  RD_AUTO_CLOSE int fd = open(path, O_RDONLY | O_CLOEXEC);
  FUZZ_REQUIRE(fd >= 0 && fstat(fd, &status) == 0 && (size_t)status.st_size == expected);
  RD_AUTO_FREE unsigned char *bytes = malloc(expected + 1);
  FUZZ_REQUIRE(bytes != NULL && read(fd, bytes, expected) == (ssize_t)expected);
  FUZZ_REQUIRE(memcmp(bytes, beginning, beginning_bytes) == 0);
  FUZZ_REQUIRE(rest_bytes == 0 || memcmp(bytes + beginning_bytes, rest, rest_bytes) == 0);
}
