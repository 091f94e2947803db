// SPDX-License-Identifier: Apache-2.0
// Builds a frame protected according to its header's flags, sealed or with a MAC, using a seal's next turn.
#ifndef RD_PROTECTED_FRAME_H
#define RD_PROTECTED_FRAME_H

#include "crypto/seal.h"

#include <string.h>

// Writes the complete message of RD_HEADER_BYTES + `bytes` + RD_TAG_BYTES.
static inline bool protect_frame(struct rd_seal *seal, struct rd_frame *frame, const void *payload, size_t bytes,
                                 unsigned char *message, struct rd_error *error) {
  unsigned char *body = message + RD_HEADER_BYTES;
  struct rd_frame_key turn;
  if ((frame->flags & RD_FLAG_MACED) == 0) return rd_seal_seal(seal, frame, payload, bytes, message, body, error);
  struct rd_sealer *sealer = rd_sealer_create(seal, error);
  bool done = sealer != NULL && rd_seal_next(seal, frame, &turn, error) &&
              rd_sealer_mac(sealer, &turn, frame, payload, bytes, message, body + bytes, error);
  rd_sealer_destroy(sealer);
  if (bytes > 0) memmove(body, payload, bytes);
  return done;
}

#endif
