// SPDX-License-Identifier: Apache-2.0
// The payload of a compressed DATA frame: a u32 with the decompressed size, then one zstd frame.
// See docs/protocol/wire.md, section 1.1. Only this file uses the compression library.
#ifndef RD_CODEC_BLOCK_H
#define RD_CODEC_BLOCK_H

#include "wire/wire.h"

struct rd_packer;   // for one thread; keeps its memory for the next block
struct rd_unpacker; // for one thread

// `level`: zstd's, 1 to 19. NULL on failure.
struct rd_packer *rd_packer_create(int level, struct rd_error *error);
void rd_packer_destroy(struct rd_packer *packer); // accepts NULL
// Compresses 1 to UINT32_MAX bytes into `out` and returns the payload's length. Returns 0 if the payload would be
// longer than `most` or the library failed; the block is then sent uncompressed.
size_t rd_pack(struct rd_packer *packer, const unsigned char *bytes, size_t count, unsigned char *out, size_t most);
// Returns the largest compressed size at which compressing `count` bytes still pays off.
size_t rd_pack_most_bytes(size_t count);

// NULL on failure.
struct rd_unpacker *rd_unpacker_create(struct rd_error *error);
void rd_unpacker_destroy(struct rd_unpacker *unpacker); // accepts NULL
// Decompresses a peer's payload into `out`, at most `most` bytes whatever size the payload claims. Returns false
// (RD_CODE_DATA_DAMAGED) if that size is 0 or above `most`, or the rest is not exactly one zstd frame of that size.
bool rd_unpack(struct rd_unpacker *unpacker, const unsigned char *payload, size_t payload_bytes, unsigned char *out,
               size_t most, size_t *count, struct rd_error *error);

// Decides whether to try compression: after several blocks in a row that did not shrink, tries become rarer until a
// block shrinks. For one thread.
struct rd_compress_policy {
  unsigned failed;  // tries that failed in a row
  unsigned to_skip; // blocks to send uncompressed before the next try
};
bool rd_compress_policy_tries(struct rd_compress_policy *shrinking);
void rd_compress_policy_tried(struct rd_compress_policy *shrinking, bool shrank);

#endif
