// SPDX-License-Identifier: Apache-2.0
#include "crypto/seal.h"

#include "base/hex.h"
#include "protected_frame.h"
#include "test.h"

#include <string.h>

enum { TEXT_BYTES = 100, MESSAGE_BYTES = RD_HEADER_BYTES + TEXT_BYTES + RD_TAG_BYTES };
static const unsigned char key_and_iv[44] = "thirty-two bytes of key, and then an iv too";
static struct rd_error error;
// Flags of the frames from here on: 0 for sealed ones, or RD_FLAG_MACED.
static uint8_t flags;

static struct rd_seal *make(bool chacha, uint64_t ratchet_frames) {
  struct rd_seal *seal = rd_seal_create(chacha, key_and_iv, ratchet_frames, &error);
  REQUIRE(seal != NULL);
  return seal;
}

static void seal_text(struct rd_seal *seal, unsigned char message[MESSAGE_BYTES]) {
  struct rd_frame frame = {.type = RD_FRAME_DATA, .flags = flags, .epoch = 1, .offset = 4096};
  unsigned char text[TEXT_BYTES];
  memset(text, 'x', sizeof text);
  REQUIRE(protect_frame(seal, &frame, text, sizeof text, message, &error));
}

static bool opens(struct rd_seal *seal, unsigned char *message, size_t message_bytes) {
  struct rd_frame frame;
  unsigned char *payload = NULL, expected[TEXT_BYTES];
  size_t bytes = 0;
  memset(expected, 'x', sizeof expected);
  if (!rd_frame_decode(message, message_bytes, &frame, &error)) return false;
  if (!rd_seal_open(seal, message, message_bytes, &frame, &payload, &bytes, &error)) return false;
  return payload == message + RD_HEADER_BYTES && bytes == TEXT_BYTES && memcmp(payload, expected, bytes) == 0;
}

static void round_trips(bool chacha) {
  struct rd_seal *out = make(chacha, 0), *in = make(chacha, 0);
  unsigned char message[MESSAGE_BYTES], first[MESSAGE_BYTES];
  for (unsigned i = 0; i < 300; i++) {
    seal_text(out, message);
    if (i == 0) memcpy(first, message, sizeof first);
    bool is_in_clear = message[RD_HEADER_BYTES] == 'x' && message[RD_HEADER_BYTES + TEXT_BYTES - 1] == 'x';
    CHECK(is_in_clear == (flags == RD_FLAG_MACED));
    CHECK(memcmp(first + MESSAGE_BYTES - RD_TAG_BYTES, message + MESSAGE_BYTES - RD_TAG_BYTES, RD_TAG_BYTES) == 0
              ? i == 0
              : i > 0);
    CHECK(opens(in, message, sizeof message));
  }
  rd_seal_destroy(out);
  rd_seal_destroy(in);
}

static void in_place_and_empty(bool chacha) {
  struct rd_seal *out = make(chacha, 0), *in = make(chacha, 0);
  struct rd_frame frame = {.type = RD_FRAME_PING};
  unsigned char message[MESSAGE_BYTES], *payload;
  size_t bytes;
  CHECK(rd_seal_seal(out, &frame, NULL, 0, message, message + RD_HEADER_BYTES, &error));
  CHECK(rd_frame_decode(message, RD_HEADER_BYTES + RD_TAG_BYTES, &frame, &error));
  CHECK(rd_seal_open(in, message, RD_HEADER_BYTES + RD_TAG_BYTES, &frame, &payload, &bytes, &error) && bytes == 0);
  frame = (struct rd_frame){.type = RD_FRAME_DATA};
  memset(message + RD_HEADER_BYTES, 'x', TEXT_BYTES);
  CHECK(rd_seal_seal(out, &frame, message + RD_HEADER_BYTES, TEXT_BYTES, message, message + RD_HEADER_BYTES, &error));
  CHECK(opens(in, message, sizeof message));
  rd_seal_destroy(out);
  rd_seal_destroy(in);
}

static void every_byte_counts(bool chacha) {
  struct rd_seal *out = make(chacha, 0);
  unsigned char message[MESSAGE_BYTES], tampered[MESSAGE_BYTES];
  seal_text(out, message);
  for (size_t i = 0; i < MESSAGE_BYTES; i++) {
    struct rd_seal *in = make(chacha, 0);
    memcpy(tampered, message, sizeof tampered);
    tampered[i] ^= 0x40;
    CHECK(!opens(in, tampered, sizeof tampered) && error.code == RD_CODE_DATA_DAMAGED);
    rd_seal_destroy(in);
  }
  for (size_t bytes = 0; bytes < MESSAGE_BYTES; bytes++) {
    struct rd_seal *in = make(chacha, 0);
    memcpy(tampered, message, sizeof tampered);
    CHECK(!opens(in, tampered, bytes));
    rd_seal_destroy(in);
  }
  rd_seal_destroy(out);
}

// The frame is intact, but its flags are wrong.
static void flags_count(bool chacha) {
  static const uint8_t others[] = {RD_FLAG_SEALED, RD_FLAG_MACED, RD_FLAG_COMPRESSED, 0};
  struct rd_seal *out = make(chacha, 0);
  unsigned char message[MESSAGE_BYTES], tampered[MESSAGE_BYTES];
  seal_text(out, message);
  for (size_t i = 0; i < sizeof others; i++) {
    struct rd_seal *in = make(chacha, 0);
    memcpy(tampered, message, sizeof tampered);
    tampered[1] = others[i];
    CHECK(opens(in, tampered, sizeof tampered) == (others[i] == message[1]));
    rd_seal_destroy(in);
  }
  rd_seal_destroy(out);
}

static void long_payloads(bool chacha) {
  static unsigned char payload[RD_SLOT_MAX_BYTES], message[RD_HEADER_BYTES + RD_SLOT_MAX_BYTES + RD_TAG_BYTES], *opened;
  static const size_t sizes[] = {1, 15, 16, 17, 511, 4096, 65537, RD_SLOT_MAX_BYTES};
  struct rd_seal *out = make(chacha, 0), *in = make(chacha, 0);
  for (size_t i = 0; i < sizeof payload; i++) payload[i] = (unsigned char)(i * 31 + (i >> 8));
  for (size_t i = 0; i < sizeof sizes / sizeof sizes[0]; i++) {
    struct rd_frame frame = {.type = RD_FRAME_DATA, .flags = flags, .epoch = 1};
    size_t message_bytes = RD_HEADER_BYTES + sizes[i] + RD_TAG_BYTES, bytes = 0;
    CHECK(protect_frame(out, &frame, payload, sizes[i], message, &error));
    CHECK(rd_frame_decode(message, message_bytes, &frame, &error));
    CHECK(rd_seal_open(in, message, message_bytes, &frame, &opened, &bytes, &error) && bytes == sizes[i]);
    CHECK(memcmp(opened, payload, bytes) == 0);
  }
  rd_seal_destroy(out);
  rd_seal_destroy(in);
}

static void order_counts(void) {
  struct rd_seal *out = make(false, 0), *in = make(false, 0);
  unsigned char first[MESSAGE_BYTES], second[MESSAGE_BYTES], again[MESSAGE_BYTES];
  seal_text(out, first);
  seal_text(out, second);
  memcpy(again, first, sizeof again);
  CHECK(!opens(in, second, sizeof second) && error.code == RD_CODE_DATA_DAMAGED);
  CHECK(opens(in, first, sizeof first));
  CHECK(!opens(in, again, sizeof again) && error.code == RD_CODE_DATA_DAMAGED);
  CHECK(opens(in, second, sizeof second));
  rd_seal_destroy(out);
  rd_seal_destroy(in);
}

// Threads may seal DATA later than frames sent after it: other frames are counted separately, with other nonces.
static void other_frames_overtake(bool chacha) {
  struct rd_seal *out = make(chacha, 0), *in = make(chacha, 0);
  struct rd_sealer *sealer = rd_sealer_create(out, &error);
  struct rd_frame data[2] = {{.type = RD_FRAME_DATA}, {.type = RD_FRAME_DATA, .offset = TEXT_BYTES}};
  struct rd_frame ping = {.type = RD_FRAME_PING}, decoded;
  struct rd_frame_key turns[2];
  unsigned char text[TEXT_BYTES], messages[2][MESSAGE_BYTES], message[MESSAGE_BYTES], *payload;
  size_t bytes;
  REQUIRE(sealer != NULL);
  memset(text, 'x', sizeof text);
  for (int i = 0; i < 2; i++) CHECK(rd_seal_next(out, &data[i], &turns[i], &error) && data[i].sequence == (uint64_t)i);
  CHECK(rd_seal_seal(out, &ping, NULL, 0, message, message + RD_HEADER_BYTES, &error) && ping.sequence == 0);
  for (int i = 1; i >= 0; i--)
    CHECK(rd_sealer_seal(sealer, &turns[i], &data[i], text, sizeof text, messages[i], messages[i] + RD_HEADER_BYTES,
                         &error));
  size_t ping_bytes = RD_HEADER_BYTES + RD_TAG_BYTES;
  CHECK(rd_frame_decode(message, ping_bytes, &decoded, &error));
  CHECK(rd_seal_open(in, message, ping_bytes, &decoded, &payload, &bytes, &error) && bytes == 0);
  for (int i = 0; i < 2; i++) CHECK(opens(in, messages[i], sizeof messages[i]));
  // The same text as the first frame of its count, under the same key.
  ping = (struct rd_frame){.type = RD_FRAME_ABORT};
  struct rd_seal *fresh = make(chacha, 0);
  CHECK(rd_seal_seal(fresh, &ping, text, sizeof text, message, message + RD_HEADER_BYTES, &error));
  data[0].sequence = 0;
  rd_seal_destroy(in);
  in = make(chacha, 0);
  CHECK(rd_seal_seal(in, &data[0], text, sizeof text, messages[0], messages[0] + RD_HEADER_BYTES, &error));
  CHECK(memcmp(message + RD_HEADER_BYTES, messages[0] + RD_HEADER_BYTES, TEXT_BYTES) != 0);
  rd_seal_destroy(fresh);
  rd_sealer_destroy(sealer);
  rd_seal_destroy(out);
  rd_seal_destroy(in);
}

static void unsealed_is_refused(void) {
  struct rd_seal *in = make(false, 0);
  struct rd_frame frame = {.type = RD_FRAME_DATA};
  unsigned char message[MESSAGE_BYTES] = {0}, *payload;
  size_t bytes;
  rd_frame_encode(&frame, message);
  CHECK(!rd_seal_open(in, message, sizeof message, &frame, &payload, &bytes, &error));
  CHECK(error.code == RD_CODE_DATA_DAMAGED);
  rd_seal_destroy(in);
}

static void keys_are_renewed(bool chacha) {
  struct rd_seal *out = make(chacha, 3), *in = make(chacha, 3), *never = make(chacha, 0);
  unsigned char message[MESSAGE_BYTES], same[MESSAGE_BYTES];
  for (unsigned i = 0; i < 10; i++) {
    seal_text(out, message);
    seal_text(never, same);
    CHECK((memcmp(message, same, sizeof same) == 0) == (i < 3));
    CHECK(opens(in, message, sizeof message));
  }
  rd_seal_destroy(out);
  rd_seal_destroy(in);
  rd_seal_destroy(never);
}

// Known frames, one for each cipher, sealed or with a MAC according to `flags`, so that a change of nonce, associated
// data or ratchet is noticed.
static void known_frames(const char *const tags[2]) {
  for (int chacha = 0; chacha < 2; chacha++) {
    struct rd_seal *out = make(chacha == 1, 1);
    unsigned char message[MESSAGE_BYTES];
    char tag[2 * RD_TAG_BYTES + 1];
    for (int i = 0; i < 3; i++) seal_text(out, message);
    CHECK(rd_hex_encode(message + MESSAGE_BYTES - RD_TAG_BYTES, RD_TAG_BYTES, tag, sizeof tag));
    CHECK(strcmp(tag, tags[chacha]) == 0);
    rd_seal_destroy(out);
  }
}

static void too_long_is_refused(void) {
  struct rd_seal *out = make(false, 0);
  struct rd_frame frame = {.type = RD_FRAME_DATA};
  unsigned char byte = 0, header[RD_HEADER_BYTES];
  CHECK(!rd_seal_seal(out, &frame, &byte, RD_SLOT_MAX_BYTES + 1, header, &byte, &error));
  CHECK(error.code == RD_CODE_INTERNAL);
  rd_seal_destroy(out);
}

static void of_one_kind(bool chacha) {
  round_trips(chacha);
  every_byte_counts(chacha);
  flags_count(chacha);
  long_payloads(chacha);
  keys_are_renewed(chacha);
}

int main(void) {
  static const char *const sealed[2] = {"2650ac3a1c7a355d7ccdc6166f8f86aa", "a38abe233330c440a0eb76953f55f40e"};
  static const char *const macs[2] = {"18cae4dff5e97c2882f3edfac14ec828", "73541a84923448fd75f15951bd280242"};
  for (int chacha = 0; chacha < 2; chacha++) {
    of_one_kind(chacha == 1);
    in_place_and_empty(chacha == 1);
    other_frames_overtake(chacha == 1);
  }
  order_counts();
  unsealed_is_refused();
  known_frames(sealed);
  too_long_is_refused();
  flags = RD_FLAG_MACED;
  for (int chacha = 0; chacha < 2; chacha++) of_one_kind(chacha == 1);
  order_counts();
  known_frames(macs);
  rd_seal_destroy(NULL);
  return test_end("seal");
}
