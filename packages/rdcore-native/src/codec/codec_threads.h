// SPDX-License-Identifier: Apache-2.0
// A thread's contexts for encoding blocks into DATA frames or decoding them.
#ifndef RD_CODEC_CODEC_THREADS_H
#define RD_CODEC_CODEC_THREADS_H

#include "codec/block.h"
#include "crypto/seal.h"

struct rd_codec_context {
  struct rd_sealer *sealer;     // NULL: nothing is sealed
  struct rd_packer *packer;     // NULL: nothing is compressed
  struct rd_unpacker *unpacker; // NULL: likewise
};

// Fills `sets` with `count` contexts. `seal` may be NULL, `level` 0.
bool rd_codec_context_create(struct rd_codec_context **sets, unsigned count, const struct rd_seal *seal, int level,
                             bool unpacks, struct rd_error *error);
void rd_codec_context_destroy(struct rd_codec_context **sets, unsigned count); // NULLs are allowed

// The number of threads for `jobs`: as asked for, or (0) the number of processors, 8 at most.
unsigned rd_codec_context_threads(unsigned jobs);
// Whether the calling thread seals and opens frames itself, so that other threads only compress and decompress.
bool rd_codec_context_seal_inline(unsigned jobs);

#endif
