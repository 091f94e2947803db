// SPDX-License-Identifier: Apache-2.0
// The running digest of a plain stream: XXH3, 128 bits, in canonical (big-endian) form.
// It detects damage, not forgery; the frame that carries it is sealed.
#ifndef RD_BASE_DIGEST_H
#define RD_BASE_DIGEST_H

#include "base/error.h"

#include <stddef.h>
#include <stdint.h>

#define RD_DIGEST_BYTES 16u

struct rd_digest; // opaque

// A digest of no bytes so far. NULL on failure; free with rd_digest_destroy().
struct rd_digest *rd_digest_create(struct rd_error *error);
void rd_digest_update(struct rd_digest *digest, const unsigned char *bytes, size_t count);
// Writes the digest of all bytes so far; more bytes may follow.
void rd_digest_value(const struct rd_digest *digest, unsigned char out[RD_DIGEST_BYTES]);
void rd_digest_destroy(struct rd_digest *digest); // accepts NULL

// Computes the digest of `count` bytes in one call.
void rd_digest_of(const unsigned char *bytes, size_t count, unsigned char out[RD_DIGEST_BYTES]);

// For CPUs with AVX2: several times as fast as with SSE2. `state` is an XXH3_state_t, created with or without AVX2.
void rd_digest_update_avx2(void *state, const unsigned char *bytes, size_t count);

#endif
