// SPDX-License-Identifier: Apache-2.0
// The decoder: opens and decompresses received DATA frames on a thread pool.
// Returns them in the order in which they were put in, and only if they are valid.
#ifndef RD_CODEC_DECODER_H
#define RD_CODEC_DECODER_H

#include "crypto/seal.h"
#include "transport/transport.h"

// A received frame after opening.
struct rd_rx_frame {
  struct rd_frame header;
  unsigned char *payload; // opened and decompressed
  size_t bytes;
  struct rd_message message;
  bool is_small;  // it occupies one of the connection's own small slots
  unsigned plain; // number, from 1, of the buffer that it was decompressed into; 0: the payload is in the message
};

struct rd_decoder; // opaque

struct rd_decoder_config {
  struct rd_seal *seal; // NULL: DATA is unencrypted and without a MAC
  unsigned jobs;        // threads; 0: one per CPU, at most 8
  unsigned frames;      // the most frames that can be in work at a time
  size_t slot_bytes;    // the largest block
};

// The seal remains the caller's and must stay valid until rd_decoder_stop(). NULL on failure.
struct rd_decoder *rd_decoder_create(const struct rd_decoder_config *config, struct rd_error *error);
// Waits for frames in work and drops the rest; touches no message afterwards. Frames that were taken stay valid.
void rd_decoder_stop(struct rd_decoder *decoder);
void rd_decoder_destroy(struct rd_decoder *decoder); // accepts NULL

// Puts in a DATA frame; its header and message must be set. Returns false on failure (RD_CODE_DATA_DAMAGED).
bool rd_decoder_put(struct rd_decoder *decoder, const struct rd_rx_frame *rx_frame, struct rd_error *error);
// Takes the next frame, in order. AGAIN: it is not ready yet, or there is none.
enum rd_outcome rd_decoder_take(struct rd_decoder *decoder, struct rd_rx_frame *rx_frame, struct rd_error *error);
bool rd_decoder_is_empty(const struct rd_decoder *decoder);
// Releases the buffer that the frame was decompressed into.
void rd_decoder_give_back(struct rd_decoder *decoder, const struct rd_rx_frame *rx_frame);

int rd_decoder_poll_fd(const struct rd_decoder *decoder); // readable when rd_decoder_take() may return a frame
// Clears the wake-up; call when the descriptor was readable.
void rd_decoder_woken(struct rd_decoder *decoder);

#endif
