// SPDX-License-Identifier: Apache-2.0
// The encoder: compresses blocks of the stream, and seals them or adds a MAC, on a thread pool.
// Returns them as messages in the order in which the blocks were put in.
#ifndef RD_CODEC_ENCODER_H
#define RD_CODEC_ENCODER_H

#include "base/outcome.h"
#include "crypto/seal.h"

#include <sys/uio.h>

struct rd_encoder; // opaque

#define RD_ENCODER_PARTS 3 // of a message: header, payload, and MAC; the MAC may be empty

struct rd_encoder_config {
  enum rd_protection protection;
  struct rd_seal *seal; // NULL: no protection
  int level;            // of compression; 0: no compression
  unsigned jobs;        // threads; 0: one per CPU, at most 8
  size_t most_bytes;    // the largest payload
  // Memory for messages in work, stride_bytes each: payload and tag. It remains the caller's. NULL if nothing is
  // compressed or sealed.
  unsigned char *scratch;
  size_t stride_bytes;
  unsigned scratch_count;
};

// Returns the number of pieces of scratch memory that it can make use of.
unsigned rd_encoder_scratch_wanted(unsigned jobs);

// Scratch memory and seal must stay valid until the encoder is destroyed. NULL on failure.
struct rd_encoder *rd_encoder_create(const struct rd_encoder_config *config, struct rd_error *error);
void rd_encoder_destroy(struct rd_encoder *encoder); // accepts NULL; waits for blocks in work

// Puts a block in; `frame` is its header so far, `released` the transport's count of released messages. Its bytes must
// stay in place until they are acknowledged. AGAIN: no scratch memory is free.
enum rd_outcome rd_encoder_put(struct rd_encoder *encoder, const struct rd_frame *frame, const unsigned char *bytes,
                               size_t count, uint64_t released, struct rd_error *error);
// Returns the next message; the same one until rd_encoder_sent().
enum rd_outcome rd_encoder_next(struct rd_encoder *encoder, struct iovec parts[RD_ENCODER_PARTS],
                                struct rd_error *error);
// The transport accepted that message as message `number`, counted from 1.
void rd_encoder_sent(struct rd_encoder *encoder, uint64_t number);
// Returns true if the transport has accepted every message.
bool rd_encoder_is_empty(const struct rd_encoder *encoder);
// Returns true if blocks are in work and no message is ready.
bool rd_encoder_is_working(const struct rd_encoder *encoder);

int rd_encoder_poll_fd(const struct rd_encoder *encoder); // readable when there may be a next message
// Clears the wake-up; call when the descriptor was readable.
void rd_encoder_woken(struct rd_encoder *encoder);

#endif
