// SPDX-License-Identifier: Apache-2.0
// The payload of a compressed DATA frame: u32 bytes when decompressed, then one zstd frame of these.
// docs/protocol.md, section 1.1. Only this uses the compression library.
#ifndef RD_CODEC_BLOCK_H
#define RD_CODEC_BLOCK_H

#include "wire/wire.h"

struct rd_packer;   // of one thread; it keeps its memory for the next block
struct rd_unpacker; // likewise

// `level`: of zstd, 1 to 19. NULL on failure.
struct rd_packer *rd_packer_create(int level, struct rd_error *error);
void rd_packer_destroy(struct rd_packer *packer); // NULL-safe
// Compresses 1 to UINT32_MAX bytes into `out` and returns the payload's length; 0: it would be longer than `most`, or
// the library failed: the block is sent as it is.
size_t rd_pack(struct rd_packer *packer, const unsigned char *bytes, size_t count, unsigned char *out, size_t most);
// The longest payload of `count` bytes that is worth its decompression.
size_t rd_pack_most_bytes(size_t count);

struct rd_unpacker *rd_unpacker_create(struct rd_error *error);
void rd_unpacker_destroy(struct rd_unpacker *unpacker); // NULL-safe
// Decompresses a peer's payload into `out`, at most `most` bytes whatever length the payload claims. False
// (RD_CODE_DATA_DAMAGED): the length is 0 or above `most`, or the rest is anything but one frame of so many bytes.
bool rd_unpack(struct rd_unpacker *unpacker, const unsigned char *payload, size_t payload_bytes, unsigned char *out,
               size_t most, size_t *count, struct rd_error *error);

// Whether to try compression: after several blocks in a row that did not shrink, tries become rarer until a block
// shrinks. For one thread.
struct rd_compress_policy {
  unsigned failed;  // in a row
  unsigned to_skip; // blocks, before the next try
};
bool rd_compress_policy_tries(struct rd_compress_policy *shrinking);
void rd_compress_policy_tried(struct rd_compress_policy *shrinking, bool shrank);

#endif
