// SPDX-License-Identifier: Apache-2.0
#include "base/siphash.h"

#include "base/bytes.h"

#define MARK_OF_128_BITS 0xeeu
#define FINAL_ROUNDS 4

static void mix(struct rd_siphash *hash, uint64_t word);
static uint64_t finish(struct rd_siphash *hash);
static void mix_round(struct rd_siphash *hash);
static uint64_t rotate(uint64_t word, unsigned bits);

// The initial values are those of the paper.
void rd_siphash_begin(struct rd_siphash *hash, const unsigned char key[RD_SIPHASH_KEY_BYTES]) {
  uint64_t k0 = rd_get_u64(key), k1 = rd_get_u64(key + 8);
  *hash = (struct rd_siphash){.v0 = k0 ^ 0x736f6d6570736575u,
                              .v1 = k1 ^ 0x646f72616e646f6du ^ MARK_OF_128_BITS,
                              .v2 = k0 ^ 0x6c7967656e657261u,
                              .v3 = k1 ^ 0x7465646279746573u};
}

void rd_siphash_update(struct rd_siphash *hash, const unsigned char *bytes, size_t count) {
  for (size_t i = 0; i < count; i++) {
    hash->word |= (uint64_t)bytes[i] << 8 * (hash->count % 8);
    if (++hash->count % 8 != 0) continue;
    mix(hash, hash->word);
    hash->word = 0;
  }
}

void rd_siphash_value(const struct rd_siphash *hash, unsigned char out[RD_SIPHASH_BYTES]) {
  struct rd_siphash end = *hash;
  mix(&end, end.word | end.count << 56);
  end.v2 ^= MARK_OF_128_BITS;
  rd_put_u64(out, finish(&end));
  end.v1 ^= 0xddu;
  rd_put_u64(out + 8, finish(&end));
}

static void mix(struct rd_siphash *hash, uint64_t word) {
  hash->v3 ^= word;
  mix_round(hash);
  mix_round(hash);
  hash->v0 ^= word;
}

static uint64_t finish(struct rd_siphash *hash) {
  for (int i = 0; i < FINAL_ROUNDS; i++) mix_round(hash);
  return hash->v0 ^ hash->v1 ^ hash->v2 ^ hash->v3;
}

static void mix_round(struct rd_siphash *hash) {
  hash->v0 += hash->v1;
  hash->v2 += hash->v3;
  hash->v1 = rotate(hash->v1, 13) ^ hash->v0;
  hash->v3 = rotate(hash->v3, 16) ^ hash->v2;
  hash->v0 = rotate(hash->v0, 32);
  hash->v2 += hash->v1;
  hash->v0 += hash->v3;
  hash->v1 = rotate(hash->v1, 17) ^ hash->v2;
  hash->v3 = rotate(hash->v3, 21) ^ hash->v0;
  hash->v2 = rotate(hash->v2, 32);
}

static uint64_t rotate(uint64_t word, unsigned bits) {
  return word << bits | word >> (64 - bits);
}
