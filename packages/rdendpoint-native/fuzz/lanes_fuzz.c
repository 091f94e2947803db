// SPDX-License-Identifier: Apache-2.0
// A peer's bytes over the sockets of one connection, in pieces: whole messages of any number, and other bytes.
// As long as all of them are whole messages, each arrives once, in the order of the numbers, with its bytes.
#include "fuzz.h"
#include "transport/lanes.h"
#include "transport/tcp/connector.h"
#include "transport/tcp/send.h"
#include "transport/transport.h"
#include "wire/wire.h"

#include <sys/socket.h>
#include <unistd.h>

enum { LANES = 3, SLOTS = 6, PAYLOAD_BYTES = 4096, NUMBERS_NEAR = 16 };

struct lanes {
  struct rd_transport *transport;
  int peers[LANES];
  bool is_broken;                   // the peer sent other bytes, or sent a number twice
  uint8_t fill[RD_MESSAGE_NUMBERS]; // of the message of this number that was sent; 0: none
  unsigned next;                    // number of the message that is due
  struct rd_message held[SLOTS];
  unsigned held_count;
};

static void open_lanes(struct lanes *lanes);
static void close_lanes(struct lanes *lanes);
static bool act(struct lanes *lanes, struct fuzz_input *input);
static void send_message(struct lanes *lanes, int lane, struct fuzz_input *input);
static void send_bytes(struct lanes *lanes, int lane, struct fuzz_input *input);
static bool receive(struct lanes *lanes, bool holds);
static void check(struct lanes *lanes, const struct rd_message *message);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  struct fuzz_input input = {data, size};
  struct lanes lanes = {.next = 0};
  open_lanes(&lanes);
  while (input.left > 0 && act(&lanes, &input)) continue;
  close_lanes(&lanes);
  return 0;
}

static void open_lanes(struct lanes *lanes) {
  struct rd_error error;
  for (int i = 0; i < LANES; i++) {
    int fds[2];
    FUZZ_REQUIRE(socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0, fds) == 0);
    struct rd_transport *lane = rd_tcp_adopt(fds[0], &error);
    FUZZ_REQUIRE(lane != NULL);
    lanes->peers[i] = fds[1];
    if (i > 0) {
      FUZZ_REQUIRE(lanes->transport->ops->join(lanes->transport, lane, &error));
      continue;
    }
    lanes->transport = lane;
    lane->ops->expect_lanes(lane, LANES, 0);
    FUZZ_REQUIRE(lane->ops->arm(lane, SLOTS, PAYLOAD_BYTES, &error));
  }
}

static void close_lanes(struct lanes *lanes) {
  for (unsigned i = 0; i < lanes->held_count; i++) lanes->transport->ops->give_back(lanes->transport, &lanes->held[i]);
  rd_transport_destroy(lanes->transport);
  for (int i = 0; i < LANES; i++)
    if (lanes->peers[i] >= 0) close(lanes->peers[i]);
}

// Returns false once the connection has failed.
static bool act(struct lanes *lanes, struct fuzz_input *input) {
  uint8_t action = fuzz_u8(input);
  int lane = action / 8 % LANES;
  switch (action % 8) {
  case 0:
    send_bytes(lanes, lane, input);
    return true;
  case 1:
    if (lanes->peers[lane] >= 0) close(lanes->peers[lane]);
    lanes->peers[lane] = -1;
    return true;
  case 2:
    if (lanes->held_count > 0) lanes->transport->ops->give_back(lanes->transport, &lanes->held[--lanes->held_count]);
    return true;
  case 3:
    return receive(lanes, true);
  case 4:
    return receive(lanes, false);
  default:
    send_message(lanes, lane, input);
    return true;
  }
}

// Most numbers are near the one that is due.
static void send_message(struct lanes *lanes, int lane, struct fuzz_input *input) {
  uint8_t choice = fuzz_u8(input), fill = fuzz_u8(input) | 1u;
  unsigned ahead = choice < 250 ? choice % NUMBERS_NEAR : (unsigned)fuzz_number(input, 2);
  unsigned number = (lanes->next + ahead) % RD_MESSAGE_NUMBERS;
  unsigned char bytes[RD_TCP_LENGTH_BYTES + RD_HEADER_BYTES + 8];
  size_t length = RD_HEADER_BYTES + choice % 8;
  if (lanes->peers[lane] < 0) return;
  if (lanes->fill[number] != 0) lanes->is_broken = true;
  lanes->fill[number] = fill;
  memset(bytes, fill, sizeof bytes);
  rd_put_u32(bytes, (uint32_t)length | number << RD_MESSAGE_NUMBER_SHIFT);
  if (send(lanes->peers[lane], bytes, RD_TCP_LENGTH_BYTES + length, MSG_NOSIGNAL) !=
      (ssize_t)(RD_TCP_LENGTH_BYTES + length))
    lanes->is_broken = true; // the socket is full
}

static void send_bytes(struct lanes *lanes, int lane, struct fuzz_input *input) {
  const uint8_t *bytes;
  size_t count = fuzz_take(input, fuzz_u8(input) % 32u, &bytes);
  if (lanes->peers[lane] < 0 || count == 0) return;
  lanes->is_broken = true;
  (void)!send(lanes->peers[lane], bytes, count, MSG_NOSIGNAL);
}

// Returns false once the connection has failed.
static bool receive(struct lanes *lanes, bool holds) {
  struct rd_transport *transport = lanes->transport;
  struct rd_message message;
  struct rd_error error;
  if (holds && lanes->held_count == SLOTS) return true;
  enum rd_outcome received = transport->ops->receive(transport, &message, &error);
  if (received != RD_OUTCOME_DONE) return received == RD_OUTCOME_AGAIN;
  check(lanes, &message);
  if (holds)
    lanes->held[lanes->held_count++] = message;
  else
    transport->ops->give_back(transport, &message);
  return true;
}

static void check(struct lanes *lanes, const struct rd_message *message) {
  FUZZ_REQUIRE(message->bytes >= RD_HEADER_BYTES && message->bytes <= RD_HEADER_BYTES + PAYLOAD_BYTES + RD_TAG_BYTES);
  uint8_t *fill = &lanes->fill[lanes->next];
  if (!lanes->is_broken) {
    FUZZ_REQUIRE(*fill != 0);
    for (size_t i = 0; i < message->bytes; i++) FUZZ_REQUIRE(message->data[i] == *fill);
  }
  *fill = 0;
  lanes->next = (lanes->next + 1) % RD_MESSAGE_NUMBERS;
}
