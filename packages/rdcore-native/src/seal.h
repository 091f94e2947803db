// SPDX-License-Identifier: Apache-2.0
// One direction's authenticated encryption of frames (docs/protocol.md, section 1.2). Only this and handshake use the
// crypto library.
#ifndef RD_SEAL_H
#define RD_SEAL_H

#include "wire.h"

struct rd_seal;

// `key_and_iv`: 32 + 12 bytes. `ratchet_bytes`: after so many sealed bytes the next key is derived (0: 256 GiB).
struct rd_seal *rd_seal_create(bool chacha, const unsigned char key_and_iv[44], uint64_t ratchet_bytes,
                               struct rd_error *error);

// Sealing end: sets the flag and the next sequence in *frame, writes its header to `header`, and payload and tag to
// `out` (`bytes` + RD_TAG_BYTES; it may be `payload`). `bytes` is at most RD_SLOT_MAX_BYTES.
bool rd_seal_seal(struct rd_seal *seal, struct rd_frame *frame, const unsigned char *payload, size_t bytes,
                  unsigned char header[RD_HEADER_BYTES], unsigned char *out, struct rd_error *error);

// Opening end: `message` is a whole sealed message, opened in place; *payload and *bytes are set on success only. The
// sequence must be the next one. RD_CODE_DATA_DAMAGED when it is not, or when the tag is wrong.
bool rd_seal_open(struct rd_seal *seal, unsigned char *message, size_t message_bytes, const struct rd_frame *frame,
                  unsigned char **payload, size_t *bytes, struct rd_error *error);

void rd_seal_destroy(struct rd_seal *seal); // wipes the keys; NULL-safe

// True where the CPU has AES instructions.
bool rd_cpu_has_aes(void);

#endif
