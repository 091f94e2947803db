// SPDX-License-Identifier: Apache-2.0
// Authenticated encryption of the frames of one direction, or their MAC.
// See docs/protocol/wire.md, section 1.2.
// In this package only crypto/ uses the crypto library, except that cli/library_versions.c prints its version.
//
// The owner has the keys and gives each frame, in order, its turn: the frame's key and nonce, for its place in the
// sequence. With a turn any thread can seal or open the frame, using its own sealer.
#ifndef RD_CRYPTO_SEAL_H
#define RD_CRYPTO_SEAL_H

#include "wire/wire.h"

#define RD_SEAL_KEY_BYTES 32u
#define RD_SEAL_IV_BYTES 12u

struct rd_seal;   // used by the owner
struct rd_sealer; // used by one thread

// `key_and_iv`: 32 + 12 bytes. `ratchet_frames`: the number of frames after which the next key is derived (0: 2^18).
// NULL on failure; free with rd_seal_destroy().
struct rd_seal *rd_seal_create(bool chacha, const unsigned char key_and_iv[RD_SEAL_KEY_BYTES + RD_SEAL_IV_BYTES],
                               uint64_t ratchet_frames, struct rd_error *error);
void rd_seal_destroy(struct rd_seal *seal); // wipes the keys; accepts NULL

// Key and nonce of one frame. The code that uses it wipes it afterwards.
struct rd_frame_key {
  unsigned char key[RD_SEAL_KEY_BYTES];
  unsigned char nonce[RD_SEAL_IV_BYTES];
};
// Sealing end: sets the next sequence in *frame, and RD_FLAG_SEALED unless *frame has RD_FLAG_MACED. DATA and other
// frames are counted separately.
bool rd_seal_next(struct rd_seal *seal, struct rd_frame *frame, struct rd_frame_key *turn, struct rd_error *error);
// Opening end: checks that the frame of a message of `message_bytes` bytes has the next sequence. Returns false
// (RD_CODE_DATA_DAMAGED) if it does not.
bool rd_seal_expect(struct rd_seal *seal, const struct rd_frame *frame, size_t message_bytes, struct rd_frame_key *turn,
                    struct rd_error *error);

// Creates a sealer for turns of this seal. NULL on failure.
struct rd_sealer *rd_sealer_create(const struct rd_seal *seal, struct rd_error *error);
void rd_sealer_destroy(struct rd_sealer *sealer); // accepts NULL
// Writes the frame's header to `header`, and payload and tag to `out`, which has `bytes` + RD_TAG_BYTES bytes and may
// be equal to `payload`. `bytes` is at most RD_SLOT_MAX_BYTES.
bool rd_sealer_seal(struct rd_sealer *sealer, const struct rd_frame_key *turn, const struct rd_frame *frame,
                    const unsigned char *payload, size_t bytes, unsigned char header[RD_HEADER_BYTES],
                    unsigned char *out, struct rd_error *error);
// Writes the header of a frame with RD_FLAG_MACED, and the cipher's tag over header and payload as associated data. The
// payload is only read.
bool rd_sealer_mac(struct rd_sealer *sealer, const struct rd_frame_key *turn, const struct rd_frame *frame,
                   const unsigned char *payload, size_t bytes, unsigned char header[RD_HEADER_BYTES],
                   unsigned char tag[RD_TAG_BYTES], struct rd_error *error);
// Opens a complete message with a tag, in place; sets *payload and *bytes only on success. Returns false
// (RD_CODE_DATA_DAMAGED) if the tag is wrong.
bool rd_sealer_open(struct rd_sealer *sealer, const struct rd_frame_key *turn, unsigned char *message,
                    size_t message_bytes, unsigned char **payload, size_t *bytes, struct rd_error *error);

// Take a turn and use it at once, with the owner's own sealer.
bool rd_seal_seal(struct rd_seal *seal, struct rd_frame *frame, const unsigned char *payload, size_t bytes,
                  unsigned char header[RD_HEADER_BYTES], unsigned char *out, struct rd_error *error);
bool rd_seal_open(struct rd_seal *seal, unsigned char *message, size_t message_bytes, const struct rd_frame *frame,
                  unsigned char **payload, size_t *bytes, struct rd_error *error);

// Returns true if this CPU has instructions for AES; without them AES-256-GCM is several times slower than
// ChaCha20-Poly1305.
bool rd_cpu_has_aes(void);
// Returns true if Poly1305 is faster than GMAC, on this CPU and with this OpenSSL.
bool rd_cpu_prefers_poly1305(void);

#endif
