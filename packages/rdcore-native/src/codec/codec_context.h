// SPDX-License-Identifier: Apache-2.0
// What one thread needs to make a DATA frame of a block, or a block of a DATA frame.
#ifndef RD_CODEC_CODEC_CONTEXT_H
#define RD_CODEC_CODEC_CONTEXT_H

#include "codec/block.h"
#include "crypto/seal.h"

struct rd_codec_context {
  struct rd_sealer *sealer;     // NULL: nothing is sealed
  struct rd_packer *packer;     // NULL: nothing is compressed
  struct rd_unpacker *unpacker; // NULL: likewise
};

// So many sets, each of which an entry of `sets` points to. `seal` may be NULL, `level` 0.
bool rd_codec_context_create(struct rd_codec_context **sets, unsigned count, const struct rd_seal *seal, int level,
                             bool unpacks, struct rd_error *error);
void rd_codec_context_destroy(struct rd_codec_context **sets, unsigned count); // also of NULLs

// How many threads a hop end has for `jobs`: as asked for, or (0) as many as there are processors, 8 at most.
unsigned rd_codec_context_threads(unsigned jobs);
// Is what is only sealed to be left to the thread that has it in hand?
bool rd_codec_context_seal_inline(unsigned jobs);

#endif
