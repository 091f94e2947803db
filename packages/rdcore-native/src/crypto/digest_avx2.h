// SPDX-License-Identifier: Apache-2.0
// XXH3 by vectors of 256 bits, for CPUs that have them: several times as fast as what every x86-64 has. For digest.c.
#ifndef RD_CRYPTO_DIGEST_AVX2_H
#define RD_CRYPTO_DIGEST_AVX2_H

#include <stddef.h>

// `state` is an XXH3_state_t, whatever code it was made by. Only where the CPU has AVX2.
void rd_digest_update_avx2(void *state, const unsigned char *bytes, size_t count);

#endif
