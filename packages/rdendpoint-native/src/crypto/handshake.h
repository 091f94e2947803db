// SPDX-License-Identifier: Apache-2.0
// The handshake: proves the hop's key and agrees on data keys, with TLS 1.3 and an external PSK.
// See docs/protocol/wire.md, section 1.2. A state machine over messages, which uses no descriptor.
#ifndef RD_CRYPTO_HANDSHAKE_H
#define RD_CRYPTO_HANDSHAKE_H

#include "crypto/seal.h"
#include "wire/wire.h"

#define RD_KEY_BYTES 32u
#define RD_JOIN_BYTES 33u // 32 hexadecimal digits and NUL

struct rd_identity {
  const unsigned char *key; // RD_KEY_BYTES, owned by the caller, must outlive the handshake
  char run[64];             // "-" if standalone
  unsigned hop;             // 0 if standalone
  // Of the current connection of the hop, for its further lanes: a dialer proves that it has made that connection, a
  // listener accepts lanes as well as other connections. Empty: there is none, or it has one lane.
  char join[RD_JOIN_BYTES];
  uint32_t join_epoch;
};

enum rd_role { RD_ROLE_SENDER, RD_ROLE_RECEIVER };

struct rd_handshake; // opaque

// The result of a handshake.
struct rd_agreement {
  enum rd_protection protection; // of DATA frames: the stronger of both ends' choices
  const char *cipher_name;       // of DATA: "aes-256-gcm", "chacha20-poly1305", "aes-256-gmac", "poly1305", "none"
  bool compresses;               // DATA frames may be compressed
  unsigned lanes;                // the most of the connection, at least 1: the lesser of both ends' numbers
  char join[RD_JOIN_BYTES];      // what the handshakes of further lanes name; empty: there is one lane
  struct rd_hello mine, peer;
  struct rd_seal *outgoing; // owned by the caller after rd_handshake_take()
  struct rd_seal *incoming;
};

// `is_dialer`: this end is the TLS client. `mine` is the HELLO that this end sends; a listener raises its own epoch to
// the dialer's, and refuses a lower one. NULL on failure; free with rd_handshake_destroy().
struct rd_handshake *rd_handshake_create(const struct rd_identity *identity, enum rd_role role, bool is_dialer,
                                         const struct rd_hello *mine, struct rd_error *error);

// For a receiver that listens; call first. If the dialer's HELLO announces sealed or compressed DATA, the receiver
// grants smaller slots than those of `mine`.
void rd_handshake_adapt_slots(struct rd_handshake *handshake);

// Processes the payload of one HANDSHAKE frame (NULL, 0 to begin). Returns false with RD_CODE_KEY_REFUSED if the peer
// has another key, RD_CODE_CANNOT_CONNECT if it has another version, RD_CODE_DATA_DAMAGED if it does not speak this
// protocol. After a failure there may still be an alert to send: drain rd_handshake_output() before closing.
bool rd_handshake_input(struct rd_handshake *handshake, const unsigned char *payload, size_t bytes,
                        struct rd_error *error);

// Writes the payload of the next HANDSHAKE frame to send and returns its length; 0 if there is none now. `out` has
// RD_HANDSHAKE_MESSAGE_MAX_BYTES - RD_HEADER_BYTES bytes.
size_t rd_handshake_output(struct rd_handshake *handshake, unsigned char *out, size_t out_bytes);

// Returns true once both HELLOs were exchanged and all output was drained.
bool rd_handshake_complete(const struct rd_handshake *handshake);

// At a listener: returns true if the dialer's first message was made with the key, or is a replay of such a message.
bool rd_handshake_named_key(const struct rd_handshake *handshake);

// Returns true if this is the handshake of a further lane, as the dialer's identity says.
bool rd_handshake_is_lane(const struct rd_handshake *handshake);

// Hands over the agreement. Call once, after completion.
bool rd_handshake_take(struct rd_handshake *handshake, struct rd_agreement *agreement, struct rd_error *error);

// Wipes the key. Accepts NULL.
void rd_handshake_destroy(struct rd_handshake *handshake);

#endif
