// SPDX-License-Identifier: Apache-2.0
// The hop's key from a typed one, by scrypt.
#ifndef RD_CRYPTO_KEY_DERIVATION_H
#define RD_CRYPTO_KEY_DERIVATION_H

#include "crypto/handshake.h"

// Turns a typed key into RD_KEY_BYTES: 64 hexadecimal digits as they are, anything else by scrypt. Once per process: it
// is slow.
bool rd_key_from_text(const char *text, unsigned char key[RD_KEY_BYTES], struct rd_error *error);

// The key of a client of a server, from rd_key_from_text(): a hop's key proves nothing there, nor the other way round.
bool rd_key_for_service(const unsigned char key[RD_KEY_BYTES], unsigned char psk[RD_KEY_BYTES]);

#endif
