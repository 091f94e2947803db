// SPDX-License-Identifier: Apache-2.0
// The encoder: blocks of the stream are compressed, and sealed or given a MAC, on a pool.
// They come out as messages in the order in which they were put in.
#ifndef RD_CODEC_ENCODER_H
#define RD_CODEC_ENCODER_H

#include "base/outcome.h"
#include "crypto/seal.h"

#include <sys/uio.h>

struct rd_encoder; // opaque

#define RD_ENCODER_PARTS 3 // of a message: header, payload, and its MAC, which may be empty

struct rd_encoder_config {
  enum rd_protection protection;
  struct rd_seal *seal; // NULL: without protection
  int level;            // of compression; 0: none
  unsigned jobs;        // threads; 0: as many as there are processors
  size_t most_bytes;    // the largest payload
  // Memory for messages in work, each of stride_bytes: sealed payload and tag. It remains the caller's. NULL where
  // nothing is compressed or sealed.
  unsigned char *scratch;
  size_t stride_bytes;
  unsigned scratch_count;
};

// The useful number of pieces of scratch memory.
unsigned rd_encoder_scratch_wanted(unsigned jobs);

// Scratch memory and seal must stay until it is destroyed. NULL on failure.
struct rd_encoder *rd_encoder_create(const struct rd_encoder_config *config, struct rd_error *error);
void rd_encoder_destroy(struct rd_encoder *encoder); // NULL-safe; waits for blocks in work

// Puts a block in; `frame` is its header so far, `released` the transport's count. Its bytes must stay until they were
// acknowledged. AGAIN: no scratch memory is free.
enum rd_outcome rd_encoder_put(struct rd_encoder *encoder, const struct rd_frame *frame, const unsigned char *bytes,
                               size_t count, uint64_t released, struct rd_error *error);
// The next message. It is the same one until rd_encoder_sent().
enum rd_outcome rd_encoder_next(struct rd_encoder *encoder, struct iovec parts[RD_ENCODER_PARTS],
                                struct rd_error *error);
// The transport accepted that message, as its `number`th, from 1.
void rd_encoder_sent(struct rd_encoder *encoder, uint64_t number);
// Whether the transport has accepted every message.
bool rd_encoder_is_empty(const struct rd_encoder *encoder);
// Whether blocks are in work and no message is ready.
bool rd_encoder_is_working(const struct rd_encoder *encoder);

int rd_encoder_poll_fd(const struct rd_encoder *encoder); // readable when there may be a next message
void rd_encoder_woken(struct rd_encoder *encoder);

#endif
