// SPDX-License-Identifier: Apache-2.0
// The signature of a stream that passes through several hosts, made by its first sender.
// The algorithm is Ed25519 (RFC 8032).
// A host in the middle, which knows the keys of its own two hops, cannot sign other bytes.
#ifndef RD_CRYPTO_SIGNATURE_H
#define RD_CRYPTO_SIGNATURE_H

#include "wire/wire.h"

#define RD_SIGNING_KEY_BYTES 32u
#define RD_STRONG_DIGEST_BYTES 32u // of SHA-256

enum rd_signing_role { RD_SIGNING_NONE, RD_SIGNING_SIGNS, RD_SIGNING_VERIFIES };

struct rd_signing {
  enum rd_signing_role role;
  unsigned char key[RD_SIGNING_KEY_BYTES]; // the seed for RD_SIGNING_SIGNS, the public key for RD_SIGNING_VERIFIES
  char run[64];                            // a signature from another run is not valid
};

// Signs the digest of a complete stream of `bytes` bytes. Returns false on failure (RD_CODE_INTERNAL).
bool rd_signature_make(const struct rd_signing *signing, const unsigned char digest[RD_STRONG_DIGEST_BYTES],
                       uint64_t bytes, unsigned char out[RD_SIGNATURE_BYTES], struct rd_error *error);
// Verifies the signature in *end. Returns false if it is wrong (RD_CODE_DATA_DAMAGED) or on failure (RD_CODE_INTERNAL).
bool rd_signature_check(const struct rd_signing *signing, const unsigned char digest[RD_STRONG_DIGEST_BYTES],
                        uint64_t bytes, const struct rd_end *end, struct rd_error *error);

#endif
