// SPDX-License-Identifier: Apache-2.0
// Proof of the hop's key and agreement on data keys: TLS 1.3 with an external PSK and DHE (docs/protocol.md,
// section 1.2). A state machine over messages: it reads and writes no descriptor.
#ifndef RD_CRYPTO_HANDSHAKE_H
#define RD_CRYPTO_HANDSHAKE_H

#include "crypto/seal.h"
#include "wire/wire.h"

#define RD_KEY_BYTES 32u

struct rd_identity {
  const unsigned char *key; // RD_KEY_BYTES, owned by the caller, outlives the handshake
  char run[64];             // "-" by hand
  unsigned hop;             // 0 by hand
};

enum rd_role { RD_ROLE_SENDER, RD_ROLE_RECEIVER };

struct rd_handshake; // opaque

// What both ends agreed on.
struct rd_agreement {
  enum rd_protection protection; // of DATA frames: the stronger wish
  const char *cipher_name;       // of DATA: "aes-256-gcm", "chacha20-poly1305", "aes-256-gmac", "poly1305", "none"
  bool compresses;               // DATA frames may be compressed
  struct rd_hello mine, peer;
  struct rd_seal *outgoing; // owned by the caller after rd_handshake_take()
  struct rd_seal *incoming;
};

// `dialer` is the TLS client. `mine` is the HELLO this end sends; of a listener, its epoch is the least that it takes,
// and what it says is the dialer's. NULL on failure; destroy with
// rd_handshake_destroy().
struct rd_handshake *rd_handshake_create(const struct rd_identity *identity, enum rd_role role, bool is_dialer,
                                         const struct rd_hello *mine, struct rd_error *error);

// Of a receiver that listens, before anything else: it grants smaller slots than `mine` says where the dialer's HELLO
// tells that DATA will be protected or compressed.
void rd_handshake_adapt_slots(struct rd_handshake *handshake);

// Feeds the payload of one HANDSHAKE frame (NULL, 0: begin). RD_CODE_KEY_REFUSED when the other side holds another key,
// RD_CODE_CANNOT_CONNECT when it speaks another version, RD_CODE_DATA_DAMAGED when it does not speak this protocol.
// On failure there may still be an alert to send: drain rd_handshake_output() before closing.
bool rd_handshake_input(struct rd_handshake *handshake, const unsigned char *payload, size_t bytes,
                        struct rd_error *error);

// Next payload to send in a HANDSHAKE frame: its length, 0 when there is none now. `out` has
// RD_HANDSHAKE_MESSAGE_MAX_BYTES - RD_HEADER_BYTES.
size_t rd_handshake_output(struct rd_handshake *handshake, unsigned char *out, size_t out_bytes);

// True once both HELLOs have been exchanged and everything to send was drained.
bool rd_handshake_complete(const struct rd_handshake *handshake);

// At a listener: the dialer's first word was made with the key, by himself or by somebody whom he overheard.
bool rd_handshake_named_key(const struct rd_handshake *handshake);

// Hands over what was agreed. Call once, after completion.
bool rd_handshake_take(struct rd_handshake *handshake, struct rd_agreement *agreement, struct rd_error *error);

void rd_handshake_destroy(struct rd_handshake *handshake);

// Turns a typed key into RD_KEY_BYTES: 64 hexadecimal digits as they are, anything else by scrypt. Once per process: it
// is slow.
bool rd_key_from_text(const char *text, unsigned char key[RD_KEY_BYTES], struct rd_error *error);

#endif
