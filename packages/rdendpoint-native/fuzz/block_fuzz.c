// SPDX-License-Identifier: Apache-2.0
// The payload of a peer's compressed frame, for slots of various sizes; also compresses the same bytes and decompresses
// them again.
#include "base/cleanup.h"
#include "codec/block.h"
#include "fuzz.h"

#include <string.h>

#define SLOT_MAX_BYTES (64u << 10)

static void unpack(const uint8_t *payload, size_t bytes, size_t slot_bytes);
static void pack(const uint8_t *bytes, size_t count);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  struct fuzz_input input = {data, size};
  size_t slot_bytes = 1u + fuzz_u16(&input);
  unpack(input.bytes, input.left, slot_bytes);
  if (input.left > 0 && input.left <= SLOT_MAX_BYTES) pack(input.bytes, input.left);
  return 0;
}

// Decompresses into memory of exactly the allowed size, so that a write past its end is detected.
static void unpack(const uint8_t *payload, size_t bytes, size_t slot_bytes) {
  struct rd_error error = {.code = RD_CODE_OK};
  size_t count = 0;
  struct rd_unpacker *unpacker = rd_unpacker_create(&error);
  RD_AUTO_FREE unsigned char *slot = malloc(slot_bytes);
  FUZZ_REQUIRE(unpacker != NULL && slot != NULL);
  if (rd_unpack(unpacker, payload, bytes, slot, slot_bytes, &count, &error))
    FUZZ_REQUIRE(count > 0 && count <= slot_bytes && count == rd_get_u32(payload));
  else
    FUZZ_REQUIRE(error.code == RD_CODE_DATA_DAMAGED);
  rd_unpacker_destroy(unpacker);
}

static void pack(const uint8_t *bytes, size_t count) {
  struct rd_error error;
  unsigned char packed[SLOT_MAX_BYTES], again[SLOT_MAX_BYTES];
  size_t unpacked = 0;
  struct rd_packer *packer = rd_packer_create(1 + (int)(count % 19), &error);
  struct rd_unpacker *unpacker = rd_unpacker_create(&error);
  FUZZ_REQUIRE(packer != NULL && unpacker != NULL);
  size_t packed_bytes = rd_pack(packer, bytes, count, packed, rd_pack_most_bytes(count));
  FUZZ_REQUIRE(packed_bytes <= rd_pack_most_bytes(count));
  if (packed_bytes > 0) {
    FUZZ_REQUIRE(rd_unpack(unpacker, packed, packed_bytes, again, count, &unpacked, &error));
    FUZZ_REQUIRE(unpacked == count && memcmp(again, bytes, count) == 0);
  }
  rd_packer_destroy(packer);
  rd_unpacker_destroy(unpacker);
}
