// SPDX-License-Identifier: Apache-2.0
#include "crypto/key_derivation.h"

#include "base/hex.h"
#include "crypto/tls.h"

#include <openssl/evp.h>
#include <openssl/hmac.h>
#include <string.h>

static bool stretch_key(const char *text, unsigned char key[RD_KEY_BYTES]);

bool rd_key_from_text(const char *text, unsigned char key[RD_KEY_BYTES], struct rd_error *error) {
  size_t length = strlen(text), decoded;
  if (length == 0) {
    rd_error_set(error, RD_CODE_USAGE, "the key is empty");
    return false;
  }
  if (length == 2 * RD_KEY_BYTES && rd_hex_decode(text, length, key, RD_KEY_BYTES, &decoded)) return true;
  if (stretch_key(text, key)) return true;
  rd_error_set(error, RD_CODE_INTERNAL, "no memory to stretch the key (32 MiB are needed)");
  return false;
}

bool rd_key_for_service(const unsigned char key[RD_KEY_BYTES], unsigned char psk[RD_KEY_BYTES]) {
  static const unsigned char purpose[] = "rdpipe-serve/1";
  unsigned bytes = 0;
  return rd_tls_init_library() &&
         HMAC(EVP_sha256(), key, RD_KEY_BYTES, purpose, sizeof purpose - 1, psk, &bytes) != NULL &&
         bytes == RD_KEY_BYTES;
}

static bool stretch_key(const char *text, unsigned char key[RD_KEY_BYTES]) {
  static const unsigned char salt[] = "rdpipe/1 key";
  const uint64_t n = 1 << 15, r = 8, p = 1, memory_bytes = 64 << 20;
  return rd_tls_init_library() &&
         EVP_PBE_scrypt(text, strlen(text), salt, sizeof salt - 1, n, r, p, memory_bytes, key, RD_KEY_BYTES) == 1;
}
