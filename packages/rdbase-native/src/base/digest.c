// SPDX-License-Identifier: Apache-2.0
#include "base/digest.h"

#include "base/memory.h"

#include <stdlib.h>
#include <string.h>

#define XXH_INLINE_ALL
#include <xxhash.h>

struct rd_digest {
  XXH3_state_t *state;
};

static void put_value(XXH128_hash_t value, unsigned char out[RD_DIGEST_BYTES]);

struct rd_digest *rd_digest_create(struct rd_error *error) {
  struct rd_digest *digest = rd_memory_new(1, sizeof *digest);
  digest->state = XXH3_createState();
  if (digest->state == NULL) {
    free(digest);
    rd_error_set(error, RD_CODE_INTERNAL, "no memory for a digest");
    return NULL;
  }
  XXH3_128bits_reset(digest->state);
  return digest;
}

void rd_digest_update(struct rd_digest *digest, const unsigned char *bytes, size_t count) {
#ifdef __x86_64__
  if (__builtin_cpu_supports("avx2")) {
    rd_digest_update_avx2(digest->state, bytes, count);
    return;
  }
#endif
  XXH3_128bits_update(digest->state, bytes, count);
}

void rd_digest_value(const struct rd_digest *digest, unsigned char out[RD_DIGEST_BYTES]) {
  put_value(XXH3_128bits_digest(digest->state), out);
}

void rd_digest_destroy(struct rd_digest *digest) {
  if (digest == NULL) return;
  XXH3_freeState(digest->state);
  free(digest);
}

void rd_digest_of(const unsigned char *bytes, size_t count, unsigned char out[RD_DIGEST_BYTES]) {
  put_value(XXH3_128bits(bytes, count), out);
}

static void put_value(XXH128_hash_t value, unsigned char out[RD_DIGEST_BYTES]) {
  XXH128_canonical_t canonical;
  XXH128_canonicalFromHash(&canonical, value);
  memcpy(out, canonical.digest, RD_DIGEST_BYTES);
}
