// SPDX-License-Identifier: Apache-2.0
// A fake cipher in place of libcrypto's, which hides nothing: sealing leaves the bytes unchanged, and the tag is a sum
// over the key, the nonce and all bytes. So a target can create frames like a peer that holds the key, and a frame that
// was changed in transit is still refused, at the cost of a sum.
#include "fuzz.h"

#include <openssl/evp.h>
#include <string.h>

#define KEY_BYTES 32u
#define NONCE_BYTES 12u
#define TAG_BYTES 16

struct evp_cipher_ctx_st {
  uint64_t key_sum, sum;
  unsigned char expected[TAG_BYTES];
};

static uint64_t add(uint64_t sum, const unsigned char *bytes, size_t count);
static void tag_of(const EVP_CIPHER_CTX *context, unsigned char tag[TAG_BYTES]);
static int take(EVP_CIPHER_CTX *context, unsigned char *out, int *out_bytes, const unsigned char *in, int in_bytes);

EVP_CIPHER_CTX *EVP_CIPHER_CTX_new(void) {
  return calloc(1, sizeof(EVP_CIPHER_CTX));
}

void EVP_CIPHER_CTX_free(EVP_CIPHER_CTX *context) {
  free(context);
}

int EVP_CipherInit_ex(EVP_CIPHER_CTX *context, const EVP_CIPHER *cipher, ENGINE *engine, const unsigned char *key,
                      const unsigned char *nonce, int seals) {
  (void)cipher, (void)engine, (void)seals;
  if (key != NULL) context->key_sum = add(0, key, KEY_BYTES);
  context->sum = nonce != NULL ? add(context->key_sum, nonce, NONCE_BYTES) : context->key_sum;
  return 1;
}

int EVP_CipherUpdate(EVP_CIPHER_CTX *context, unsigned char *out, int *out_bytes, const unsigned char *in,
                     int in_bytes) {
  return take(context, out, out_bytes, in, in_bytes);
}

int EVP_EncryptUpdate(EVP_CIPHER_CTX *context, unsigned char *out, int *out_bytes, const unsigned char *in,
                      int in_bytes) {
  return take(context, out, out_bytes, in, in_bytes);
}

int EVP_DecryptUpdate(EVP_CIPHER_CTX *context, unsigned char *out, int *out_bytes, const unsigned char *in,
                      int in_bytes) {
  return take(context, out, out_bytes, in, in_bytes);
}

int EVP_EncryptFinal_ex(EVP_CIPHER_CTX *context, unsigned char *out, int *out_bytes) {
  (void)context, (void)out;
  *out_bytes = 0;
  return 1;
}

int EVP_DecryptFinal_ex(EVP_CIPHER_CTX *context, unsigned char *out, int *out_bytes) {
  unsigned char tag[TAG_BYTES];
  (void)out;
  *out_bytes = 0;
  tag_of(context, tag);
  return memcmp(tag, context->expected, sizeof tag) == 0;
}

int EVP_CIPHER_CTX_ctrl(EVP_CIPHER_CTX *context, int type, int bytes, void *tag) {
  FUZZ_REQUIRE(bytes == TAG_BYTES && (type == EVP_CTRL_AEAD_GET_TAG || type == EVP_CTRL_AEAD_SET_TAG));
  if (type == EVP_CTRL_AEAD_GET_TAG)
    tag_of(context, tag);
  else
    memcpy(context->expected, tag, TAG_BYTES);
  return 1;
}

// Without `out` the bytes are only added to the sum, as for a header.
static int take(EVP_CIPHER_CTX *context, unsigned char *out, int *out_bytes, const unsigned char *in, int in_bytes) {
  context->sum = add(context->sum, in, (size_t)in_bytes);
  if (out != NULL && in_bytes > 0) memmove(out, in, (size_t)in_bytes);
  *out_bytes = in_bytes;
  return 1;
}

static uint64_t add(uint64_t sum, const unsigned char *bytes, size_t count) {
  const uint64_t prime = UINT64_C(0x100000001b3);
  for (; count >= 8; bytes += 8, count -= 8) {
    uint64_t word;
    memcpy(&word, bytes, sizeof word);
    sum = (sum ^ word) * prime;
    sum ^= sum >> 32;
  }
  for (; count > 0; bytes++, count--) sum = (sum ^ *bytes) * prime;
  return sum;
}

static void tag_of(const EVP_CIPHER_CTX *context, unsigned char tag[TAG_BYTES]) {
  memset(tag, 0x7a, TAG_BYTES);
  memcpy(tag, &context->sum, sizeof context->sum);
}
