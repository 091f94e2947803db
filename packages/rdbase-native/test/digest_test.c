// SPDX-License-Identifier: Apache-2.0
#include "base/digest.h"

#include "base/hex.h"
#include "test.h"

#include <string.h>

#define XXH_INLINE_ALL
#define XXH_VECTOR 0
#include <xxhash.h>

static struct rd_error error;

static void digest_of(const char *text, size_t piece_bytes, char hex[33]) {
  struct rd_digest *digest = rd_digest_create(&error);
  unsigned char value[RD_DIGEST_BYTES];
  size_t length = strlen(text);
  REQUIRE(digest != NULL);
  for (size_t at = 0; at < length; at += piece_bytes) {
    size_t left = length - at;
    rd_digest_update(digest, (const unsigned char *)text + at, left < piece_bytes ? left : piece_bytes);
  }
  rd_digest_value(digest, value);
  REQUIRE(rd_hex_encode(value, sizeof value, hex, 33));
  rd_digest_destroy(digest);
}

static void known_values(void) {
  char hex[33];
  digest_of("", 1, hex);
  CHECK(strcmp(hex, "99aa06d3014798d86001c324468d497f") == 0);
  digest_of("abc", 3, hex);
  CHECK(strcmp(hex, "06b05ab6733a618578af5f94892f3950") == 0);
}

// The digest does not depend on how the stream is split, or on whether the value was requested in between.
static void pieces_make_no_difference(void) {
  char text[5000], whole[33], pieces[33];
  for (size_t i = 0; i < sizeof text; i++) text[i] = (char)('a' + i * i % 26);
  text[sizeof text - 1] = '\0';
  digest_of(text, sizeof text, whole);
  static const size_t sizes[] = {1, 7, 64, 255, 256, 257, 1024, 4096};
  for (size_t i = 0; i < sizeof sizes / sizeof sizes[0]; i++) {
    digest_of(text, sizes[i], pieces);
    CHECK(strcmp(whole, pieces) == 0);
  }
  text[4000] ^= 1;
  digest_of(text, 64, pieces);
  CHECK(strcmp(whole, pieces) != 0);
}

// The value is the same as the library's header computes without any vector instructions.
static void vectors_make_no_difference(void) {
  enum { BYTES = 100000 };
  unsigned char *bytes = malloc(BYTES), value[RD_DIGEST_BYTES];
  REQUIRE(bytes != NULL);
  for (size_t i = 0; i < BYTES; i++) bytes[i] = (unsigned char)(i * i >> 3);
  struct rd_digest *digest = rd_digest_create(&error);
  REQUIRE(digest != NULL);
  rd_digest_update(digest, bytes, 33333);
  rd_digest_update(digest, bytes + 33333, BYTES - 33333);
  rd_digest_value(digest, value);
  XXH128_canonical_t expected;
  XXH128_canonicalFromHash(&expected, XXH3_128bits(bytes, BYTES));
  CHECK(memcmp(value, expected.digest, sizeof value) == 0);
  rd_digest_of(bytes, BYTES, value);
  CHECK(memcmp(value, expected.digest, sizeof value) == 0);
  rd_digest_destroy(digest);
  free(bytes);
}

int main(void) {
  known_values();
  vectors_make_no_difference();
  pieces_make_no_difference();
  rd_digest_destroy(NULL);
  return test_end("digest");
}
