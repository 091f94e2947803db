// SPDX-License-Identifier: Apache-2.0
// XXH3 with AVX2, for CPUs that have it: several times as fast as with SSE2.
#ifndef RD_CRYPTO_DIGEST_AVX2_H
#define RD_CRYPTO_DIGEST_AVX2_H

#include <stddef.h>

// `state` is an XXH3_state_t, made with or without AVX2. Only for CPUs with AVX2.
void rd_digest_update_avx2(void *state, const unsigned char *bytes, size_t count);

#endif
