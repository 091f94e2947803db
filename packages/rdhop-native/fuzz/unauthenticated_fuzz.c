// SPDX-License-Identifier: Apache-2.0
// Fuzzes rdsend's or rdrecv's loop with a peer without the key: its input must not change anything.
#include "base/io.h"
#include "session.h"

#include <poll.h>
#include <sys/socket.h>

#define HEAR_MS 5000

static void hear_out(int fd);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  struct fuzz_input input = {data, size};
  uint8_t how = fuzz_u8(&input);
  struct session session;
  session_begin(&session, how & 1 ? RD_ROLE_SENDER : RD_ROLE_RECEIVER, RD_ENCRYPT_NEVER,
                how & 2 ? SESSION_ADOPTS_CLIENT : SESSION_ADOPTS_SERVER);
  script_start(&session.script);
  while (input.left > 0) {
    const uint8_t *bytes;
    size_t piece = fuzz_take(&input, 1u + fuzz_u16(&input), &bytes);
    if (send(session.peer.fd, bytes, piece, MSG_NOSIGNAL | MSG_DONTWAIT) < 0) break;
  }
  shutdown(session.peer.fd, SHUT_WR);
  hear_out(session.peer.fd);
  session_end(&session);
  const struct script *script = &session.script;
  FUZZ_REQUIRE(!script->connected && !script->ended && script->code != RD_CODE_OK && script->bytes == 0);
  session_clear(&session);
  return 0;
}

// Reads until the loop closes the connection.
static void hear_out(int fd) {
  unsigned char bytes[4096];
  ssize_t got;
  do FUZZ_REQUIRE(rd_wait_fd(fd, POLLIN, HEAR_MS) > 0);
  while ((got = rd_read_some(fd, bytes, sizeof bytes)) > 0);
}
