// SPDX-License-Identifier: Apache-2.0
#include "crypto/stream_check.h"

#include "base/digest.h"
#include "base/memory.h"
#include "crypto/tls.h"

#include <openssl/evp.h>
#include <stdlib.h>
#include <string.h>

struct rd_stream_check {
  const struct rd_signing *signing;
  struct rd_digest *digest;
  EVP_MD_CTX *strong; // SHA-256, because XXH3 does not prevent forgery; NULL: not signed
  uint64_t bytes;
};

static bool start_strong(struct rd_stream_check *check, struct rd_error *error);
static bool strong_digest(const struct rd_stream_check *check, unsigned char out[RD_STRONG_DIGEST_BYTES],
                          struct rd_error *error);
static bool failed(struct rd_error *error);

struct rd_stream_check *rd_stream_check_create(const struct rd_signing *signing, struct rd_error *error) {
  struct rd_stream_check *check = rd_memory_new(1, sizeof *check);
  check->signing = signing;
  check->digest = rd_digest_create(error);
  bool made = check->digest != NULL && (signing->role == RD_SIGNING_NONE || start_strong(check, error));
  if (made) return check;
  rd_stream_check_destroy(check);
  return NULL;
}

void rd_stream_check_update(struct rd_stream_check *check, const unsigned char *bytes, size_t count) {
  rd_digest_update(check->digest, bytes, count);
  if (check->strong != NULL) EVP_DigestUpdate(check->strong, bytes, count);
  check->bytes += count;
}

void rd_stream_check_destroy(struct rd_stream_check *check) {
  if (check == NULL) return;
  EVP_MD_CTX_free(check->strong);
  rd_digest_destroy(check->digest);
  free(check);
}

bool rd_stream_check_sign(const struct rd_stream_check *check, struct rd_end *end, struct rd_error *error) {
  unsigned char strong[RD_STRONG_DIGEST_BYTES];
  rd_digest_value(check->digest, end->digest);
  end->is_signed = check->strong != NULL;
  if (!end->is_signed) return true;
  return strong_digest(check, strong, error) &&
         rd_signature_make(check->signing, strong, check->bytes, end->signature, error);
}

bool rd_stream_check_verify(const struct rd_stream_check *check, const struct rd_end *end, struct rd_error *error) {
  unsigned char digest[RD_DIGEST_BYTES], strong[RD_STRONG_DIGEST_BYTES];
  rd_digest_value(check->digest, digest);
  if (memcmp(digest, end->digest, sizeof digest) != 0) {
    rd_error_set(error, RD_CODE_DATA_DAMAGED, "the data that arrived does not match the sender's digest");
    return false;
  }
  return check->strong == NULL ||
         (strong_digest(check, strong, error) && rd_signature_check(check->signing, strong, check->bytes, end, error));
}

static bool start_strong(struct rd_stream_check *check, struct rd_error *error) {
  if (!rd_tls_init_library()) return failed(error);
  check->strong = EVP_MD_CTX_new();
  return (check->strong != NULL && EVP_DigestInit_ex(check->strong, EVP_sha256(), NULL) == 1) || failed(error);
}

// Works on a copy, so that the running digest can continue: END may be made again.
static bool strong_digest(const struct rd_stream_check *check, unsigned char out[RD_STRONG_DIGEST_BYTES],
                          struct rd_error *error) {
  unsigned length = RD_STRONG_DIGEST_BYTES;
  EVP_MD_CTX *copy = EVP_MD_CTX_new();
  bool good =
      copy != NULL && EVP_MD_CTX_copy_ex(copy, check->strong) == 1 && EVP_DigestFinal_ex(copy, out, &length) == 1;
  EVP_MD_CTX_free(copy);
  return good || failed(error);
}

static bool failed(struct rd_error *error) {
  rd_error_set(error, RD_CODE_INTERNAL, "no memory for a digest");
  return false;
}
