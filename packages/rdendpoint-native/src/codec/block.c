// SPDX-License-Identifier: Apache-2.0
#include "codec/block.h"

#include "base/bytes.h"
#include "base/memory.h"

#include <stdlib.h>
#include <zstd.h>

#define WORTH_ONE_IN 16u // a block must shrink by this fraction
#define FAILED_MAX 3u    // so many failures in a row are tolerated
#define SKIP_MAX 64u

struct rd_packer {
  ZSTD_CCtx *context;
};

struct rd_unpacker {
  ZSTD_DCtx *context;
};

static bool fail(struct rd_error *error);

struct rd_packer *rd_packer_create(int level, struct rd_error *error) {
  struct rd_packer *packer = rd_memory_new(1, sizeof *packer);
  packer->context = ZSTD_createCCtx();
  if (packer->context != NULL && !ZSTD_isError(ZSTD_CCtx_setParameter(packer->context, ZSTD_c_compressionLevel, level)))
    return packer;
  rd_packer_destroy(packer);
  rd_error_set(error, RD_CODE_INTERNAL, "no memory to compress");
  return NULL;
}

void rd_packer_destroy(struct rd_packer *packer) {
  if (packer == NULL) return;
  ZSTD_freeCCtx(packer->context);
  free(packer);
}

size_t rd_pack(struct rd_packer *packer, const unsigned char *bytes, size_t count, unsigned char *out, size_t most) {
  if (most <= RD_BLOCK_HEAD_BYTES) return 0;
  size_t packed = ZSTD_compress2(packer->context, out + RD_BLOCK_HEAD_BYTES, most - RD_BLOCK_HEAD_BYTES, bytes, count);
  if (ZSTD_isError(packed)) return 0; // most likely `most` was too small
  rd_put_u32(out, (uint32_t)count);
  return RD_BLOCK_HEAD_BYTES + packed;
}

size_t rd_pack_most_bytes(size_t count) {
  return count - count / WORTH_ONE_IN;
}

struct rd_unpacker *rd_unpacker_create(struct rd_error *error) {
  struct rd_unpacker *unpacker = rd_memory_new(1, sizeof *unpacker);
  unpacker->context = ZSTD_createDCtx();
  if (unpacker->context != NULL) return unpacker;
  rd_unpacker_destroy(unpacker);
  rd_error_set(error, RD_CODE_INTERNAL, "no memory to decompress");
  return NULL;
}

void rd_unpacker_destroy(struct rd_unpacker *unpacker) {
  if (unpacker == NULL) return;
  ZSTD_freeDCtx(unpacker->context);
  free(unpacker);
}

bool rd_unpack(struct rd_unpacker *unpacker, const unsigned char *payload, size_t payload_bytes, unsigned char *out,
               size_t most, size_t *count, struct rd_error *error) {
  if (payload_bytes <= RD_BLOCK_HEAD_BYTES) return fail(error);
  const unsigned char *packed = payload + RD_BLOCK_HEAD_BYTES;
  size_t packed_bytes = payload_bytes - RD_BLOCK_HEAD_BYTES, length = rd_get_u32(payload);
  // The library itself would also accept several frames, and skippable ones.
  if (length == 0 || length > most || ZSTD_findFrameCompressedSize(packed, packed_bytes) != packed_bytes)
    return fail(error);
  if (ZSTD_decompressDCtx(unpacker->context, out, length, packed, packed_bytes) != length) return fail(error);
  *count = length;
  return true;
}

static bool fail(struct rd_error *error) {
  rd_error_set(error, RD_CODE_DATA_DAMAGED, "the peer sent a frame that cannot be decompressed");
  return false;
}

bool rd_compress_policy_tries(struct rd_compress_policy *shrinking) {
  if (shrinking->to_skip == 0) return true;
  shrinking->to_skip--;
  return false;
}

void rd_compress_policy_tried(struct rd_compress_policy *shrinking, bool shrank) {
  if (shrank) {
    *shrinking = (struct rd_compress_policy){0};
    return;
  }
  shrinking->failed++;
  if (shrinking->failed < FAILED_MAX) return;
  // Skips 2, 4, 8 … blocks.
  unsigned doublings = shrinking->failed - FAILED_MAX;
  shrinking->to_skip = doublings < 5 ? 2u << doublings : SKIP_MAX;
}
