// SPDX-License-Identifier: Apache-2.0
// Somebody without the key, who sends the input to rdsend's or rdrecv's loop, in pieces: nothing comes of it.
#include "cleanup.h"
#include "io.h"
#include "recv_loop.h"
#include "send_loop.h"
#include "session.h"

#include <poll.h>
#include <sys/socket.h>

#define HEAR_MS 5000

static void hear_out(int fd);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  struct fuzz_input input = {data, size};
  uint8_t how = fuzz_u8(&input);
  enum rd_role role = how & 1 ? RD_ROLE_SENDER : RD_ROLE_RECEIVER;
  struct script script;
  struct phony_peer peer;
  script_init(&script, role == RD_ROLE_SENDER ? rd_send_loop : rd_recv_loop);
  session_begin(&script, &peer, role, RD_ENCRYPT_NEVER, how & 2);
  script_start(&script);
  while (input.left > 0) {
    const uint8_t *bytes;
    size_t piece = fuzz_take(&input, 1u + fuzz_u16(&input), &bytes);
    if (send(peer.fd, bytes, piece, MSG_NOSIGNAL | MSG_DONTWAIT) < 0) break;
  }
  shutdown(peer.fd, SHUT_WR);
  hear_out(peer.fd);
  script_join(&script);
  FUZZ_REQUIRE(!script.connected && !script.ended && script.code != RD_CODE_OK && script.bytes == 0);
  phony_peer_clear(&peer);
  return 0;
}

// Until the loop closes.
static void hear_out(int fd) {
  unsigned char bytes[4096];
  ssize_t got;
  do FUZZ_REQUIRE(rd_wait_fd(fd, POLLIN, HEAR_MS) > 0);
  while ((got = rd_read_some(fd, bytes, sizeof bytes)) > 0);
}
