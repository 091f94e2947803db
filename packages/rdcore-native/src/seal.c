// SPDX-License-Identifier: Apache-2.0
#include "seal.h"

#include "bytes.h"

#include <inttypes.h>
#include <openssl/core_names.h>
#include <openssl/crypto.h>
#include <openssl/evp.h>
#include <openssl/kdf.h>
#include <openssl/params.h>
#include <stdlib.h>
#include <string.h>
#include <sys/auxv.h>

enum { KEY_BYTES = 32, IV_BYTES = 12 };
static const uint64_t default_ratchet_bytes = UINT64_C(256) << 30;

struct rd_seal {
  EVP_CIPHER_CTX *context;
  unsigned char key_and_iv[KEY_BYTES + IV_BYTES];
  uint64_t sequence; // of the next frame
  uint64_t key_used_bytes;
  uint64_t ratchet_bytes;
};

static bool begin_frame(struct rd_seal *seal, bool sealing, const unsigned char *header);
static bool ratchet(struct rd_seal *seal);
static bool derive_next(const unsigned char key[KEY_BYTES], unsigned char next[KEY_BYTES + IV_BYTES]);
static void make_nonce(const struct rd_seal *seal, unsigned char nonce[IV_BYTES]);
static void end_frame(struct rd_seal *seal, size_t bytes);

struct rd_seal *rd_seal_create(bool chacha, const unsigned char key_and_iv[44], uint64_t ratchet_bytes,
                               struct rd_error *error) {
  struct rd_seal *seal = calloc(1, sizeof *seal);
  if (seal != NULL) seal->context = EVP_CIPHER_CTX_new();
  const EVP_CIPHER *cipher = chacha ? EVP_chacha20_poly1305() : EVP_aes_256_gcm();
  if (seal == NULL || seal->context == NULL ||
      EVP_CipherInit_ex(seal->context, cipher, NULL, key_and_iv, NULL, 1) != 1) {
    rd_seal_destroy(seal);
    rd_error_set(error, RD_CODE_INTERNAL, "cannot set up %s", chacha ? "chacha20-poly1305" : "aes-256-gcm");
    return NULL;
  }
  memcpy(seal->key_and_iv, key_and_iv, sizeof seal->key_and_iv);
  seal->ratchet_bytes = ratchet_bytes > 0 ? ratchet_bytes : default_ratchet_bytes;
  return seal;
}

bool rd_seal_seal(struct rd_seal *seal, struct rd_frame *frame, const unsigned char *payload, size_t bytes,
                  unsigned char header[RD_HEADER_BYTES], unsigned char *out, struct rd_error *error) {
  int written, rest;
  frame->flags |= RD_FLAG_SEALED;
  frame->sequence = seal->sequence;
  rd_frame_encode(frame, header);
  bool sealed = bytes <= RD_SLOT_MAX_BYTES && begin_frame(seal, true, header) &&
                EVP_EncryptUpdate(seal->context, out, &written, payload, (int)bytes) == 1 &&
                EVP_EncryptFinal_ex(seal->context, out + written, &rest) == 1 &&
                EVP_CIPHER_CTX_ctrl(seal->context, EVP_CTRL_AEAD_GET_TAG, RD_TAG_BYTES, out + bytes) == 1;
  if (!sealed) {
    rd_error_set(error, RD_CODE_INTERNAL, "cannot encrypt a frame of %zu bytes", bytes);
    return false;
  }
  end_frame(seal, bytes);
  return true;
}

bool rd_seal_open(struct rd_seal *seal, unsigned char *message, size_t message_bytes, const struct rd_frame *frame,
                  unsigned char **payload, size_t *bytes, struct rd_error *error) {
  size_t most = RD_HEADER_BYTES + RD_SLOT_MAX_BYTES + RD_TAG_BYTES;
  bool sealed = (frame->flags & RD_FLAG_SEALED) != 0;
  if (!sealed || message_bytes < RD_HEADER_BYTES + RD_TAG_BYTES || message_bytes > most) {
    rd_error_set(error, RD_CODE_DATA_DAMAGED, "a frame of the other side is not sealed");
    return false;
  }
  if (frame->sequence != seal->sequence) {
    rd_error_set(error, RD_CODE_DATA_DAMAGED, "the other side sent frame %" PRIu64 " in place of %" PRIu64,
                 frame->sequence, seal->sequence);
    return false;
  }
  unsigned char *text = message + RD_HEADER_BYTES;
  size_t text_bytes = message_bytes - RD_HEADER_BYTES - RD_TAG_BYTES;
  int written, rest;
  bool opened = begin_frame(seal, false, message) &&
                EVP_DecryptUpdate(seal->context, text, &written, text, (int)text_bytes) == 1 &&
                EVP_CIPHER_CTX_ctrl(seal->context, EVP_CTRL_AEAD_SET_TAG, RD_TAG_BYTES, text + text_bytes) == 1 &&
                EVP_DecryptFinal_ex(seal->context, text + written, &rest) == 1;
  if (!opened) {
    rd_error_set(error, RD_CODE_DATA_DAMAGED, "a frame was changed on its way (number %" PRIu64 ")", frame->sequence);
    return false;
  }
  end_frame(seal, text_bytes);
  *payload = text;
  *bytes = text_bytes;
  return true;
}

void rd_seal_destroy(struct rd_seal *seal) {
  if (seal == NULL) return;
  EVP_CIPHER_CTX_free(seal->context);
  OPENSSL_cleanse(seal, sizeof *seal);
  free(seal);
}

bool rd_cpu_has_aes(void) {
#if defined(__x86_64__) || defined(__i386__)
  return __builtin_cpu_supports("aes") && __builtin_cpu_supports("pclmul");
#elif defined(__aarch64__)
  const unsigned long hwcap_aes = 1ul << 3;
  return (getauxval(AT_HWCAP) & hwcap_aes) != 0;
#else
  return false;
#endif
}

static bool begin_frame(struct rd_seal *seal, bool sealing, const unsigned char *header) {
  unsigned char nonce[IV_BYTES];
  int ignored;
  if (seal->key_used_bytes >= seal->ratchet_bytes && !ratchet(seal)) return false;
  make_nonce(seal, nonce);
  return EVP_CipherInit_ex(seal->context, NULL, NULL, NULL, nonce, sealing) == 1 &&
         EVP_CipherUpdate(seal->context, NULL, &ignored, header, RD_HEADER_BYTES) == 1;
}

static bool ratchet(struct rd_seal *seal) {
  unsigned char next[KEY_BYTES + IV_BYTES];
  bool done = derive_next(seal->key_and_iv, next) && EVP_CipherInit_ex(seal->context, NULL, NULL, next, NULL, -1) == 1;
  if (done) {
    memcpy(seal->key_and_iv, next, sizeof next);
    seal->key_used_bytes = 0;
  }
  OPENSSL_cleanse(next, sizeof next);
  return done;
}

static bool derive_next(const unsigned char key[KEY_BYTES], unsigned char next[KEY_BYTES + IV_BYTES]) {
  char digest[] = "SHA384", info[] = "rdpipe ratchet";
  int mode = EVP_KDF_HKDF_MODE_EXPAND_ONLY;
  EVP_KDF *kdf = EVP_KDF_fetch(NULL, "HKDF", NULL);
  EVP_KDF_CTX *context = EVP_KDF_CTX_new(kdf);
  OSSL_PARAM parameters[] = {
      OSSL_PARAM_construct_utf8_string(OSSL_KDF_PARAM_DIGEST, digest, 0),
      OSSL_PARAM_construct_int(OSSL_KDF_PARAM_MODE, &mode),
      OSSL_PARAM_construct_octet_string(OSSL_KDF_PARAM_KEY, (void *)(uintptr_t)key, KEY_BYTES),
      OSSL_PARAM_construct_octet_string(OSSL_KDF_PARAM_INFO, info, sizeof info - 1),
      OSSL_PARAM_construct_end(),
  };
  bool done = context != NULL && EVP_KDF_derive(context, next, KEY_BYTES + IV_BYTES, parameters) == 1;
  EVP_KDF_CTX_free(context);
  EVP_KDF_free(kdf);
  return done;
}

static void make_nonce(const struct rd_seal *seal, unsigned char nonce[IV_BYTES]) {
  uint64_t big_endian = htobe64(seal->sequence);
  unsigned char sequence[sizeof big_endian];
  memcpy(sequence, &big_endian, sizeof sequence);
  memcpy(nonce, seal->key_and_iv + KEY_BYTES, IV_BYTES);
  for (size_t i = 0; i < sizeof sequence; i++) nonce[IV_BYTES - sizeof sequence + i] ^= sequence[i];
}

static void end_frame(struct rd_seal *seal, size_t bytes) {
  seal->sequence++;
  seal->key_used_bytes += bytes;
}
