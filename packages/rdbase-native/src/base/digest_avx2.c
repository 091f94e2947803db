// SPDX-License-Identifier: Apache-2.0
// XXH3 compiled with -mavx2 on x86-64; empty on other CPUs.
#include "base/digest.h"

#ifdef __AVX2__
#define XXH_INLINE_ALL
#include <xxhash.h>

void rd_digest_update_avx2(void *state, const unsigned char *bytes, size_t count) {
  XXH3_128bits_update(state, bytes, count);
}
#endif
