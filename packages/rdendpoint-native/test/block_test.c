// SPDX-License-Identifier: Apache-2.0
#include "codec/block.h"

#include "base/bytes.h"
#include "test.h"

#include <string.h>

enum { PLAIN_BYTES = 300000 };
static unsigned char plain[PLAIN_BYTES], packed[2 * PLAIN_BYTES], again[PLAIN_BYTES + 1];
static struct rd_error error;

static void fill_with_words(void) {
  for (size_t i = 0; i < sizeof plain; i++)
    plain[i] = (unsigned char)"several words, again and again; "[i * i / 7 % 32];
}

static void fill_with_noise(void) {
  uint64_t state = 1;
  for (size_t i = 0; i < sizeof plain; i++)
    state = state * 6364136223846793005u + 1442695040888963407u, plain[i] = (unsigned char)(state >> 56);
}

static bool unpacks(struct rd_unpacker *unpacker, const unsigned char *payload, size_t payload_bytes, size_t most,
                    size_t *count) {
  again[most] = 0xa5;
  error.code = RD_CODE_OK;
  bool done = rd_unpack(unpacker, payload, payload_bytes, again, most, count, &error);
  CHECK(again[most] == 0xa5);
  CHECK(done == (error.code == RD_CODE_OK) && (done || error.code == RD_CODE_DATA_DAMAGED));
  return done;
}

static void there_and_back(void) {
  static const size_t sizes[] = {200, 4096, 65537, PLAIN_BYTES};
  struct rd_unpacker *unpacker = rd_unpacker_create(&error);
  REQUIRE(unpacker != NULL);
  fill_with_words();
  for (int level = 1; level <= 19; level += 6) {
    struct rd_packer *packer = rd_packer_create(level, &error);
    REQUIRE(packer != NULL);
    for (size_t i = 0; i < sizeof sizes / sizeof sizes[0]; i++) {
      size_t count = 0, bytes = rd_pack(packer, plain, sizes[i], packed, rd_pack_most_bytes(sizes[i]));
      CHECK(bytes > RD_BLOCK_HEAD_BYTES && bytes < sizes[i]);
      CHECK(unpacks(unpacker, packed, bytes, sizes[i], &count) && count == sizes[i]);
      CHECK(memcmp(again, plain, count) == 0);
    }
    rd_packer_destroy(packer);
  }
  rd_unpacker_destroy(unpacker);
}

static void not_worth_it(void) {
  struct rd_packer *packer = rd_packer_create(1, &error);
  REQUIRE(packer != NULL);
  fill_with_noise();
  CHECK(rd_pack(packer, plain, sizeof plain, packed, rd_pack_most_bytes(sizeof plain)) == 0);
  for (size_t count = 1; count < 30; count++)
    CHECK(rd_pack(packer, plain, count, packed, rd_pack_most_bytes(count)) == 0);
  // And the memory can be used for the next one.
  fill_with_words();
  CHECK(rd_pack(packer, plain, sizeof plain, packed, rd_pack_most_bytes(sizeof plain)) > 0);
  rd_packer_destroy(packer);
}

static void lies(void) {
  struct rd_packer *packer = rd_packer_create(1, &error);
  struct rd_unpacker *unpacker = rd_unpacker_create(&error);
  REQUIRE(packer != NULL && unpacker != NULL);
  fill_with_words();
  size_t count = 0, bytes = rd_pack(packer, plain, 5000, packed, sizeof packed);
  CHECK(unpacks(unpacker, packed, bytes, 5000, &count));
  CHECK(!unpacks(unpacker, packed, bytes, 4999, &count)); // more than a slot
  static const uint32_t said[] = {0, 1, 4999, 5001, PLAIN_BYTES, UINT32_MAX};
  for (size_t i = 0; i < sizeof said / sizeof said[0]; i++) {
    rd_put_u32(packed, said[i]);
    CHECK(!unpacks(unpacker, packed, bytes, PLAIN_BYTES, &count));
  }
  rd_put_u32(packed, 5000);
  for (size_t shorter = 0; shorter < bytes; shorter++) CHECK(!unpacks(unpacker, packed, shorter, PLAIN_BYTES, &count));
  CHECK(!unpacks(unpacker, packed, bytes + 1, PLAIN_BYTES, &count));
  // Two frames with the right total length; then a frame that is to be skipped.
  size_t second = rd_pack(packer, plain, 2500, packed, sizeof packed);
  memcpy(packed + second, packed + RD_BLOCK_HEAD_BYTES, second - RD_BLOCK_HEAD_BYTES);
  rd_put_u32(packed, 5000);
  CHECK(!unpacks(unpacker, packed, 2 * second - RD_BLOCK_HEAD_BYTES, PLAIN_BYTES, &count));
  static const unsigned char skipped[] = {1, 0, 0, 0, 0x50, 0x2a, 0x4d, 0x18, 1, 0, 0, 0, 7};
  CHECK(!unpacks(unpacker, skipped, sizeof skipped, PLAIN_BYTES, &count));
  // With any bit wrong it is refused or stays within its bounds: there is no checksum except the hop's.
  bytes = rd_pack(packer, plain, 5000, packed, sizeof packed);
  for (size_t i = 0; i < bytes * 8; i++) {
    packed[i / 8] ^= (unsigned char)(1u << i % 8);
    bool taken = unpacks(unpacker, packed, bytes, 5000, &count);
    CHECK(!taken || (count > 0 && count <= 5000));
    packed[i / 8] ^= (unsigned char)(1u << i % 8);
  }
  CHECK(unpacks(unpacker, packed, bytes, 5000, &count) && count == 5000);
  rd_packer_destroy(packer);
  rd_unpacker_destroy(unpacker);
}

static unsigned tries_of(struct rd_compress_policy *shrinking, unsigned blocks, bool shrinks) {
  unsigned tries = 0;
  for (unsigned i = 0; i < blocks; i++) {
    if (!rd_compress_policy_tries(shrinking)) continue;
    tries++;
    rd_compress_policy_tried(shrinking, shrinks);
  }
  return tries;
}

static void trying_less(void) {
  struct rd_compress_policy shrinking = {0};
  CHECK(tries_of(&shrinking, 100, true) == 100);
  CHECK(tries_of(&shrinking, 2, false) == 2); // two that do not shrink are not enough
  CHECK(tries_of(&shrinking, 100, true) == 100);
  unsigned tries = tries_of(&shrinking, 1000, false);
  CHECK(tries > 10 && tries < 30);
  // It keeps trying forever, but rarely.
  tries = tries_of(&shrinking, 65000, false);
  CHECK(tries >= 999 && tries <= 1001);
  // One that shrinks is enough to try again.
  tries = tries_of(&shrinking, 165, true);
  CHECK(tries > 100);
  // Tries that were begun before it gave up count as well, and do no harm.
  for (unsigned i = 0; i < 1000; i++) rd_compress_policy_tried(&shrinking, false);
  CHECK(tries_of(&shrinking, 65, true) == 1);
}

int main(void) {
  there_and_back();
  not_worth_it();
  lies();
  trying_less();
  rd_packer_destroy(NULL);
  rd_unpacker_destroy(NULL);
  return test_end("block");
}
