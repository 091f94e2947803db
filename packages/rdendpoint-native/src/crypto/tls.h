// SPDX-License-Identifier: Apache-2.0
// TLS 1.3 over memory buffers, with the hop's key as an external PSK.
#ifndef RD_CRYPTO_TLS_H
#define RD_CRYPTO_TLS_H

#include <openssl/ssl.h>
#include <stdbool.h>

struct rd_tls_psk {
  const unsigned char *key; // the owner's
  size_t key_bytes;
  char identity[128];
  char other[128]; // at a listener: another identity that may have the key; empty: none
  bool unknown;    // at a listener: the peer named neither identity
  bool is_other;   // at a listener: the peer named `other`
};

// It reads `*incoming` and writes `*outgoing`, and owns both. The PSK must stay valid. NULL on failure; free with
// SSL_free().
SSL *rd_tls_create(struct rd_tls_psk *psk, bool is_dialer, BIO **incoming, BIO **outgoing);

// Initializes the library. Returns false if it cannot be used.
bool rd_tls_init_library(void);

#endif
