// SPDX-License-Identifier: Apache-2.0
#include "base/siphash.h"

#include "base/hex.h"
#include "test.h"

#include <string.h>

#define INPUT_MAX 64

static unsigned char key[RD_SIPHASH_KEY_BYTES], input[INPUT_MAX];

static void digest_of(size_t count, size_t piece_bytes, char hex[2 * RD_SIPHASH_BYTES + 1]) {
  struct rd_siphash hash;
  unsigned char value[RD_SIPHASH_BYTES];
  rd_siphash_begin(&hash, key);
  for (size_t at = 0; at < count; at += piece_bytes) {
    rd_siphash_update(&hash, input + at, count - at < piece_bytes ? count - at : piece_bytes);
    rd_siphash_value(&hash, value); // changes nothing
  }
  rd_siphash_value(&hash, value);
  REQUIRE(rd_hex_encode(value, sizeof value, hex, 2 * RD_SIPHASH_BYTES + 1));
}

// Of the key 00 01 … 0f and the bytes 00 01 …, as openssl has them: openssl mac -macopt size:16 SIPHASH.
static void known_values(void) {
  static const struct {
    size_t count;
    const char *hex;
  } known[] = {
      {0, "a3817f04ba25a8e66df67214c7550293"},  {7, "a1f1ebbed8dbc153c0b84aa61ff08239"},
      {8, "3b62a9ba6258f5610f83e264f31497b4"},  {15, "5493e99933b0a8117e08ec0f97cfc3d9"},
      {20, "9e25fc833f2290733e9344a5e83839eb"},
  };
  char hex[2 * RD_SIPHASH_BYTES + 1];
  for (size_t i = 0; i < sizeof known / sizeof *known; i++) {
    digest_of(known[i].count, INPUT_MAX, hex);
    CHECK(strcmp(hex, known[i].hex) == 0);
  }
}

static void pieces_make_no_difference(void) {
  char whole[2 * RD_SIPHASH_BYTES + 1], pieces[sizeof whole];
  for (size_t count = 0; count <= INPUT_MAX; count++) {
    digest_of(count, INPUT_MAX, whole);
    for (size_t piece_bytes = 1; piece_bytes < 10; piece_bytes++) {
      digest_of(count, piece_bytes, pieces);
      CHECK(strcmp(whole, pieces) == 0);
    }
  }
}

int main(void) {
  for (size_t i = 0; i < sizeof key; i++) key[i] = (unsigned char)i;
  for (size_t i = 0; i < sizeof input; i++) input[i] = (unsigned char)i;
  known_values();
  pieces_make_no_difference();
  return test_end("siphash");
}
