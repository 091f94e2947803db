// SPDX-License-Identifier: Apache-2.0
// SipHash-2-4 with 128 bits: a digest that cannot be predicted without the key.
#ifndef RD_BASE_SIPHASH_H
#define RD_BASE_SIPHASH_H

#include <stddef.h>
#include <stdint.h>

#define RD_SIPHASH_KEY_BYTES 16u
#define RD_SIPHASH_BYTES 16u

struct rd_siphash {
  uint64_t v0, v1, v2, v3;
  uint64_t word;  // the last 1 to 7 bytes, which are not mixed in yet
  uint64_t count; // of all bytes
};

void rd_siphash_begin(struct rd_siphash *hash, const unsigned char key[RD_SIPHASH_KEY_BYTES]);
void rd_siphash_update(struct rd_siphash *hash, const unsigned char *bytes, size_t count);
// Writes the digest of all bytes so far; more bytes may follow.
void rd_siphash_value(const struct rd_siphash *hash, unsigned char out[RD_SIPHASH_BYTES]);

#endif
