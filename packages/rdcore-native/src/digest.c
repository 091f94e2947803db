// SPDX-License-Identifier: Apache-2.0
#include "digest.h"

#include <stdlib.h>
#include <string.h>
#include <xxhash.h>

// Takes the widest vectors that this CPU has, twice as fast. Only some builds of the library have it.
extern XXH_errorcode XXH3_128bits_update_dispatch(XXH3_state_t *state, const void *bytes, size_t count)
    __attribute__((weak));

struct rd_digest {
  XXH3_state_t *state;
};

struct rd_digest *rd_digest_create(struct rd_error *error) {
  struct rd_digest *digest = calloc(1, sizeof *digest);
  if (digest != NULL) digest->state = XXH3_createState();
  if (digest == NULL || digest->state == NULL) {
    free(digest);
    rd_error_set(error, RD_CODE_INTERNAL, "no memory for a digest");
    return NULL;
  }
  XXH3_128bits_reset(digest->state);
  return digest;
}

void rd_digest_update(struct rd_digest *digest, const unsigned char *bytes, size_t count) {
  if (XXH3_128bits_update_dispatch != NULL)
    XXH3_128bits_update_dispatch(digest->state, bytes, count);
  else
    XXH3_128bits_update(digest->state, bytes, count);
}

void rd_digest_value(const struct rd_digest *digest, unsigned char out[RD_DIGEST_BYTES]) {
  XXH128_canonical_t canonical;
  XXH128_canonicalFromHash(&canonical, XXH3_128bits_digest(digest->state));
  memcpy(out, canonical.digest, RD_DIGEST_BYTES);
}

void rd_digest_destroy(struct rd_digest *digest) {
  if (digest == NULL) return;
  XXH3_freeState(digest->state);
  free(digest);
}
