// SPDX-License-Identifier: Apache-2.0
// Authenticated encryption of one direction's frames, or their MAC (docs/protocol.md, section 1.2).
// Only this, tls, handshake and key_derivation use the crypto library.
//
// The owner has the keys and gives each frame its turn, its place in the sequence, in order. With a turn any thread can
// seal or open the frame, by a sealer of its own.
#ifndef RD_CRYPTO_SEAL_H
#define RD_CRYPTO_SEAL_H

#include "wire/wire.h"

#define RD_SEAL_KEY_BYTES 32u
#define RD_SEAL_IV_BYTES 12u

struct rd_seal;   // the owner's
struct rd_sealer; // one thread's

// `key_and_iv`: 32 + 12 bytes. `ratchet_frames`: after so many frames the next key is derived (0: 2^18). NULL on
// failure; destroy with rd_seal_destroy().
struct rd_seal *rd_seal_create(bool chacha, const unsigned char key_and_iv[RD_SEAL_KEY_BYTES + RD_SEAL_IV_BYTES],
                               uint64_t ratchet_frames, struct rd_error *error);
void rd_seal_destroy(struct rd_seal *seal); // wipes the keys; NULL-safe

// Key and nonce of one frame. Its holder wipes it after use.
struct rd_seal_turn {
  unsigned char key[RD_SEAL_KEY_BYTES];
  unsigned char nonce[RD_SEAL_IV_BYTES];
};
// Sealing end: sets the next sequence in *frame, and RD_FLAG_SEALED unless it has RD_FLAG_MACED. DATA and other frames
// are counted apart.
bool rd_seal_next(struct rd_seal *seal, struct rd_frame *frame, struct rd_seal_turn *turn, struct rd_error *error);
// Opening end: the frame of a message of so many bytes, whose sequence must be the next one. RD_CODE_DATA_DAMAGED when
// it is not.
bool rd_seal_expect(struct rd_seal *seal, const struct rd_frame *frame, size_t message_bytes, struct rd_seal_turn *turn,
                    struct rd_error *error);

// For the turns of this seal. NULL on failure.
struct rd_sealer *rd_sealer_create(const struct rd_seal *seal, struct rd_error *error);
void rd_sealer_destroy(struct rd_sealer *sealer); // NULL-safe
// Writes the frame's header to `header`, and payload and tag to `out` (`bytes` + RD_TAG_BYTES; it may be `payload`).
// `bytes` is at most RD_SLOT_MAX_BYTES.
bool rd_sealer_seal(struct rd_sealer *sealer, const struct rd_seal_turn *turn, const struct rd_frame *frame,
                    const unsigned char *payload, size_t bytes, unsigned char header[RD_HEADER_BYTES],
                    unsigned char *out, struct rd_error *error);
// The cipher's tag of a frame that is all associated data: writes the header of a frame with RD_FLAG_MACED, and the tag
// of header and payload, which is only read.
bool rd_sealer_mac(struct rd_sealer *sealer, const struct rd_seal_turn *turn, const struct rd_frame *frame,
                   const unsigned char *payload, size_t bytes, unsigned char header[RD_HEADER_BYTES],
                   unsigned char tag[RD_TAG_BYTES], struct rd_error *error);
// `message` is a whole message with a tag, opened in place; *payload and *bytes are set on success only.
// RD_CODE_DATA_DAMAGED when the tag is wrong.
bool rd_sealer_open(struct rd_sealer *sealer, const struct rd_seal_turn *turn, unsigned char *message,
                    size_t message_bytes, unsigned char **payload, size_t *bytes, struct rd_error *error);

// A turn and its use at once, by the owner's own sealer.
bool rd_seal_seal(struct rd_seal *seal, struct rd_frame *frame, const unsigned char *payload, size_t bytes,
                  unsigned char header[RD_HEADER_BYTES], unsigned char *out, struct rd_error *error);
bool rd_seal_open(struct rd_seal *seal, unsigned char *message, size_t message_bytes, const struct rd_frame *frame,
                  unsigned char **payload, size_t *bytes, struct rd_error *error);

// Whether ChaCha20-Poly1305 is faster than AES-256-GCM on this CPU: for sealing, and for the MAC alone.
bool rd_cpu_prefers_chacha(void);
bool rd_cpu_prefers_chacha_mac(void);

#endif
