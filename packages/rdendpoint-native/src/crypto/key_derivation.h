// SPDX-License-Identifier: Apache-2.0
// Derives the hop's key from a typed one, with scrypt.
#ifndef RD_CRYPTO_KEY_DERIVATION_H
#define RD_CRYPTO_KEY_DERIVATION_H

#include "crypto/handshake.h"

// Turns a typed key into RD_KEY_BYTES: decodes 64 hexadecimal digits, derives anything else with scrypt. Call once per
// process: scrypt is slow. Returns false on failure.
bool rd_key_from_text(const char *text, unsigned char key[RD_KEY_BYTES], struct rd_error *error);

// Derives the key of a server's client from the result of rd_key_from_text(): so a hop's key is useless at a server,
// and a client's key in a hop.
bool rd_key_for_service(const unsigned char key[RD_KEY_BYTES], unsigned char psk[RD_KEY_BYTES]);

#endif
