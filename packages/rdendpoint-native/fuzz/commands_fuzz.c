// SPDX-License-Identifier: Apache-2.0
// The agent's messages to rdsend and rdrecv: bytes arrive on a socket, in pieces, and become lines, JSON and commands.
#include "agent/commands.h"
#include "base/cleanup.h"
#include "base/io.h"
#include "base/json_lines.h"
#include "fuzz.h"

#include <sys/socket.h>

#define PIECE_MAX_BYTES 65536u

static bool take_lines(struct rd_json_lines *lines);
static void decode(json_t *message);
static void give_descriptor(json_t *message);
static void check(const struct rd_command *command);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  struct fuzz_input input = {data, size};
  int ends[2];
  struct rd_error error;
  FUZZ_REQUIRE(socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends) == 0);
  RD_AUTO_CLOSE int agent = ends[0];
  struct rd_json_lines *lines = rd_json_lines_create(ends[1], &error);
  FUZZ_REQUIRE(lines != NULL);
  for (bool listens = true; listens && input.left > 0;) {
    const uint8_t *bytes;
    size_t count = fuzz_take(&input, PIECE_MAX_BYTES, &bytes);
    FUZZ_REQUIRE(rd_write_all(agent, bytes, count));
    listens = take_lines(lines);
  }
  rd_json_lines_destroy(lines);
  return 0;
}

// Returns false if the program would end now.
static bool take_lines(struct rd_json_lines *lines) {
  struct rd_error error;
  json_t *message = NULL;
  enum rd_outcome taken;
  while ((taken = rd_json_lines_next(lines, &message, &error)) == RD_OUTCOME_DONE) {
    decode(message);
    json_decref(message);
  }
  FUZZ_REQUIRE(taken == RD_OUTCOME_AGAIN || error.code == RD_CODE_INTERNAL);
  return taken == RD_OUTCOME_AGAIN;
}

static void decode(json_t *message) {
  static struct rd_command command;
  struct rd_error error;
  give_descriptor(message);
  if (!rd_agent_command_decode(message, &command, &error)) {
    FUZZ_REQUIRE(error.code == RD_CODE_INTERNAL);
    return;
  }
  check(&command);
  rd_transport_destroy(command.transport);
}

// The program takes ownership of the descriptor of `adopt`. So that it does not get one of the fuzzer's, this replaces
// the number by that of a new socket.
static void give_descriptor(json_t *message) {
  const char *name = json_string_value(json_object_get(message, "op"));
  const json_t *fd = json_object_get(message, "fd");
  if (name == NULL || strcmp(name, "adopt") != 0 || !json_is_integer(fd) || json_integer_value(fd) < 3) return;
  int made = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
  FUZZ_REQUIRE(made >= 3 && json_object_set_new(message, "fd", json_integer(made)) == 0);
}

static void check(const struct rd_command *command) {
  const struct rd_settings *settings = &command->settings;
  FUZZ_REQUIRE(command->address_count <= (command->are_rails ? RD_RAILS_MAX : RD_DIALER_MAX));
  FUZZ_REQUIRE(strnlen(command->path, sizeof command->path) < sizeof command->path);
  for (size_t i = 0; i < command->address_count; i++)
    FUZZ_REQUIRE(strnlen(command->addresses[i].host, sizeof command->addresses[i].host) <
                 sizeof command->addresses[i].host);
  FUZZ_REQUIRE((command->transport != NULL) == (command->type == RD_COMMAND_ADOPT));
  if (command->type == RD_COMMAND_READER) FUZZ_REQUIRE(command->pid > 1); // the process group that would be killed
  if (command->type == RD_COMMAND_RELAY || command->type == RD_COMMAND_RING)
    FUZZ_REQUIRE(command->ring_fds.memory >= 3 && command->ring_fds.bell >= 3);
  if (command->type != RD_COMMAND_OPEN && command->type != RD_COMMAND_REJOIN) return;
#define IS_BOUNDED(name, row) FUZZ_REQUIRE(settings->name >= RD_##row##_MIN && settings->name <= RD_##row##_MAX);
#define IS_BOOLEAN(name, row)
  RD_HOP_OPTIONS(IS_BOUNDED, IS_BOOLEAN)
  FUZZ_REQUIRE(settings->port_low <= settings->port_high);
}
