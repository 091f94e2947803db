// SPDX-License-Identifier: Apache-2.0
// What one thread needs to make a DATA frame of a block, or a block of a DATA frame.
#ifndef RD_TOOLS_H
#define RD_TOOLS_H

#include "block.h"
#include "seal.h"

struct rd_tools {
  struct rd_sealer *sealer;     // NULL: nothing is sealed
  struct rd_packer *packer;     // NULL: nothing is compressed
  struct rd_unpacker *unpacker; // NULL: likewise
};

// So many sets, each of which an entry of `sets` points to. `seal` may be NULL, `level` 0.
bool rd_tools_create(struct rd_tools **sets, unsigned count, const struct rd_seal *seal, int level, bool unpacks,
                     struct rd_error *error);
void rd_tools_destroy(struct rd_tools **sets, unsigned count); // also of NULLs

// How many threads a hop end has for `jobs`: as asked for, or (0) as many as there are processors, 8 at most.
unsigned rd_tools_threads(unsigned jobs);
// Is what is only sealed to be left to the thread that has it in hand?
bool rd_tools_seal_inline(unsigned jobs);

#endif
