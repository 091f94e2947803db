// SPDX-License-Identifier: Apache-2.0
// The handshake, in either role and at either end, with a real peer whose messages the input changes, cuts, drops,
// repeats and mixes with its own. The peer may hold another key, have the wrong role, or send anything in its HELLO.
#include "base/protocol_version.h"
#include "crypto/handshake.h"
#include "fuzz.h"

#include <string.h>

#define MESSAGES_MAX 24u
#define PAYLOAD_MAX_BYTES (RD_HANDSHAKE_MESSAGE_MAX_BYTES - RD_HEADER_BYTES)

enum deed { DELIVER, CHANGE, CUT, DROP, REPEAT, INVENT, DEEDS };

struct message {
  unsigned char bytes[PAYLOAD_MAX_BYTES];
  size_t count;
};

static struct rd_handshake *begin(enum rd_role role, bool is_dialer, uint8_t key_byte, const struct rd_hello *hello);
static struct rd_hello right_hello(enum rd_role role);
static struct rd_hello any_hello(struct fuzz_input *input);
static void pump(struct rd_handshake *mine, struct rd_handshake *peer, struct fuzz_input *input);
static bool receive(struct rd_handshake *handshake, const struct message *message);
static bool meddle(struct fuzz_input *input, struct message *message, struct rd_handshake *mine);
static void check_agreement(struct rd_handshake *mine, struct rd_handshake *peer, enum rd_role role,
                            const struct rd_hello *said);
static void check_hello(const struct rd_hello *taken, enum rd_role role, const struct rd_hello *said);
static void check_frame(struct rd_seal *sealing, struct rd_seal *opening);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  struct fuzz_input input = {data, size};
  uint8_t how = fuzz_u8(&input);
  enum rd_role role = how & 1 ? RD_ROLE_SENDER : RD_ROLE_RECEIVER, other = how & 1 ? RD_ROLE_RECEIVER : RD_ROLE_SENDER;
  bool is_dialer = how & 2, wrong_end = how & 4, wrong_key = how & 8;
  struct rd_hello hello = right_hello(role), said = how & 16 ? any_hello(&input) : right_hello(other);
  struct rd_handshake *mine = begin(role, is_dialer, 7, &hello);
  struct rd_handshake *peer = begin(wrong_end ? role : other, !is_dialer, wrong_key ? 8 : 7, &said);
  pump(mine, peer, &input);
  if (rd_handshake_complete(mine)) {
    FUZZ_REQUIRE(!wrong_end && !wrong_key);
    check_agreement(mine, peer, role, &said);
  }
  rd_handshake_destroy(mine);
  rd_handshake_destroy(peer);
  return 0;
}

static struct rd_handshake *begin(enum rd_role role, bool is_dialer, uint8_t key_byte, const struct rd_hello *hello) {
  unsigned char key[RD_KEY_BYTES];
  struct rd_identity identity = {.key = key, .run = "test", .hop = 1};
  struct rd_error error;
  memset(key, key_byte, sizeof key);
  struct rd_handshake *handshake = rd_handshake_create(&identity, role, is_dialer, hello, &error);
  FUZZ_REQUIRE(handshake != NULL);
  FUZZ_REQUIRE(!is_dialer || rd_handshake_input(handshake, NULL, 0, &error));
  return handshake;
}

static struct rd_hello right_hello(enum rd_role role) {
  bool receives = role == RD_ROLE_RECEIVER;
  return (struct rd_hello){
      .version = RD_PROTOCOL_VERSION, .epoch = 1, .slots = receives ? 4 : 0, .slot_bytes = receives ? 4096 : 0};
}

static struct rd_hello any_hello(struct fuzz_input *input) {
  uint8_t flags = fuzz_u8(input);
  return (struct rd_hello){
      .version = flags & 4 ? fuzz_u16(input) : RD_PROTOCOL_VERSION,
      .wants = flags & 1     ? RD_PROTECTION_SEAL
               : flags & 128 ? RD_PROTECTION_MAC
                             : RD_PROTECTION_NONE,
      .lacks_aes = flags & 2,
      .compresses = flags & 32,
      .features = flags & 8 ? fuzz_u64(input) : 0,
      .epoch = flags & 16 ? fuzz_u32(input) : 1,
      .slot_bytes = fuzz_u32(input),
      .slots = fuzz_u32(input),
      .small_slots = flags & 64 ? fuzz_u32(input) : 0,
  };
}

// Runs until one of them completes the handshake or fails.
static void pump(struct rd_handshake *mine, struct rd_handshake *peer, struct fuzz_input *input) {
  struct message message;
  for (unsigned i = 0; i < MESSAGES_MAX && !rd_handshake_complete(mine); i++) {
    message.count = rd_handshake_output(mine, message.bytes, sizeof message.bytes);
    if (message.count > 0 && !rd_handshake_complete(peer)) (void)receive(peer, &message);
    message.count = rd_handshake_output(peer, message.bytes, sizeof message.bytes);
    if (message.count == 0 && input->left == 0) return;
    if (!meddle(input, &message, mine) || !receive(mine, &message)) return;
  }
}

// Returns false if the handshake is over.
static bool receive(struct rd_handshake *handshake, const struct message *message) {
  struct rd_error error;
  if (message->count == 0 || rd_handshake_complete(handshake)) return true;
  // Copied to memory of exactly its length.
  unsigned char *copy = malloc(message->count);
  FUZZ_REQUIRE(copy != NULL);
  memcpy(copy, message->bytes, message->count);
  bool good = rd_handshake_input(handshake, copy, message->count, &error);
  free(copy);
  FUZZ_REQUIRE(good || error.code == RD_CODE_KEY_REFUSED || error.code == RD_CODE_DATA_DAMAGED ||
               error.code == RD_CODE_CANNOT_CONNECT);
  return good;
}

// Changes the message as the input requires, or sends something else first. Returns false if the handshake is over.
static bool meddle(struct fuzz_input *input, struct message *message, struct rd_handshake *mine) {
  enum deed deed = (enum deed)(fuzz_u8(input) % DEEDS);
  size_t at = deed == DELIVER || message->count == 0 ? 0 : fuzz_u16(input) % message->count;
  const uint8_t *bytes;
  struct message invented;
  switch (deed) {
  case CHANGE:
    message->bytes[at] ^= fuzz_u8(input);
    return true;
  case CUT:
    message->count = at;
    return true;
  case DROP:
    message->count = 0;
    return true;
  case REPEAT:
    return receive(mine, message);
  case INVENT:
    invented.count = fuzz_take(input, fuzz_u16(input) % sizeof invented.bytes, &bytes);
    if (invented.count > 0) memcpy(invented.bytes, bytes, invented.count);
    return receive(mine, &invented);
  case DELIVER:
  case DEEDS:
    return true;
  }
  return true;
}

// The agreement follows from the peer's HELLO, and each end can open what the other seals.
static void check_agreement(struct rd_handshake *mine, struct rd_handshake *peer, enum rd_role role,
                            const struct rd_hello *said) {
  struct rd_agreement ours, its;
  struct rd_error error;
  FUZZ_REQUIRE(rd_handshake_take(mine, &ours, &error));
  check_hello(&ours.peer, role, said);
  if (rd_handshake_complete(peer)) {
    FUZZ_REQUIRE(rd_handshake_take(peer, &its, &error));
    FUZZ_REQUIRE(ours.protection == its.protection && strcmp(ours.cipher_name, its.cipher_name) == 0);
    check_frame(ours.outgoing, its.incoming);
    check_frame(its.outgoing, ours.incoming);
    rd_seal_destroy(its.outgoing);
    rd_seal_destroy(its.incoming);
  }
  rd_seal_destroy(ours.outgoing);
  rd_seal_destroy(ours.incoming);
}

static void check_hello(const struct rd_hello *taken, enum rd_role role, const struct rd_hello *said) {
  FUZZ_REQUIRE(taken->version == RD_PROTOCOL_VERSION && taken->version == said->version);
  FUZZ_REQUIRE(taken->slots == said->slots && taken->slot_bytes == said->slot_bytes);
  FUZZ_REQUIRE(taken->small_slots == said->small_slots && taken->small_slots <= 1u << 16);
  FUZZ_REQUIRE(taken->wants == said->wants && taken->lacks_aes == said->lacks_aes);
  FUZZ_REQUIRE(taken->compresses == said->compresses);
  if (role == RD_ROLE_RECEIVER) FUZZ_REQUIRE(taken->slots + taken->small_slots == 0 && taken->slot_bytes == 0);
  if (role == RD_ROLE_SENDER) FUZZ_REQUIRE(taken->slots > 0 && taken->slot_bytes > 0);
  FUZZ_REQUIRE(taken->slot_bytes <= RD_SLOT_MAX_BYTES && taken->slots <= 1u << 16);
}

static void check_frame(struct rd_seal *sealing, struct rd_seal *opening) {
  struct rd_frame frame = {.type = RD_FRAME_PING, .epoch = 1};
  unsigned char message[RD_HEADER_BYTES + RD_TAG_BYTES] = {0}, *payload;
  struct rd_error error;
  size_t bytes;
  FUZZ_REQUIRE(rd_seal_seal(sealing, &frame, message, 0, message, message + RD_HEADER_BYTES, &error));
  FUZZ_REQUIRE(rd_seal_open(opening, message, sizeof message, &frame, &payload, &bytes, &error));
}
