// SPDX-License-Identifier: Apache-2.0
#include "crypto/signature.h"

#include "base/bytes.h"
#include "base/cleanup.h"
#include "crypto/tls.h"

#include <openssl/evp.h>

#define PURPOSE "rdpipe chain 1"

// The text to sign: the purpose, the run padded with zeros, the number of bytes, the digest.
struct statement {
  unsigned char text[sizeof PURPOSE + sizeof((struct rd_signing *)0)->run + 8 + RD_STRONG_DIGEST_BYTES];
};

static struct statement statement_of(const struct rd_signing *signing, const unsigned char *digest, uint64_t bytes);
static bool fail(struct rd_error *error);
static void free_key(EVP_PKEY **key);
static void free_context(EVP_MD_CTX **context);

bool rd_signature_make(const struct rd_signing *signing, const unsigned char digest[RD_STRONG_DIGEST_BYTES],
                       uint64_t bytes, unsigned char out[RD_SIGNATURE_BYTES], struct rd_error *error) {
  struct statement statement = statement_of(signing, digest, bytes);
  size_t length = RD_SIGNATURE_BYTES;
  if (!rd_tls_init_library()) return fail(error);
  RD_AUTO(free_key)
  EVP_PKEY *key = EVP_PKEY_new_raw_private_key(EVP_PKEY_ED25519, NULL, signing->key, sizeof signing->key);
  RD_AUTO(free_context) EVP_MD_CTX *context = EVP_MD_CTX_new();
  bool made = key != NULL && context != NULL && EVP_DigestSignInit(context, NULL, NULL, NULL, key) == 1 &&
              EVP_DigestSign(context, out, &length, statement.text, sizeof statement.text) == 1 &&
              length == RD_SIGNATURE_BYTES;
  return made || fail(error);
}

bool rd_signature_check(const struct rd_signing *signing, const unsigned char digest[RD_STRONG_DIGEST_BYTES],
                        uint64_t bytes, const struct rd_end *end, struct rd_error *error) {
  struct statement statement = statement_of(signing, digest, bytes);
  if (!rd_tls_init_library()) return fail(error);
  RD_AUTO(free_key)
  EVP_PKEY *key = EVP_PKEY_new_raw_public_key(EVP_PKEY_ED25519, NULL, signing->key, sizeof signing->key);
  RD_AUTO(free_context) EVP_MD_CTX *context = EVP_MD_CTX_new();
  if (key == NULL || context == NULL || EVP_DigestVerifyInit(context, NULL, NULL, NULL, key) != 1) return fail(error);
  if (end->is_signed &&
      EVP_DigestVerify(context, end->signature, sizeof end->signature, statement.text, sizeof statement.text) == 1)
    return true;
  rd_error_set(error, RD_CODE_DATA_DAMAGED,
               "the data does not match the signature of its first sender: a host before this one changed it");
  return false;
}

static struct statement statement_of(const struct rd_signing *signing, const unsigned char *digest, uint64_t bytes) {
  struct statement statement = {.text = PURPOSE};
  unsigned char *next = statement.text + sizeof PURPOSE;
  size_t run = strnlen(signing->run, sizeof signing->run);
  memcpy(next, signing->run, run);
  next += sizeof signing->run;
  rd_put_u64(next, bytes);
  memcpy(next + 8, digest, RD_STRONG_DIGEST_BYTES);
  return statement;
}

static bool fail(struct rd_error *error) {
  rd_error_set(error, RD_CODE_INTERNAL, "cannot create or check the signature of the stream");
  return false;
}

static void free_key(EVP_PKEY **key) {
  EVP_PKEY_free(*key);
}

static void free_context(EVP_MD_CTX **context) {
  EVP_MD_CTX_free(*context);
}
