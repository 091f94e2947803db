// SPDX-License-Identifier: Apache-2.0
// One message of a peer: its header, then its payload decoded as each type.
#include "base/text.h"
#include "fuzz.h"
#include "wire/wire.h"

#include <string.h>

static void decode_frame(const uint8_t *data, size_t size);
static void decode_payloads(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  decode_frame(data, size);
  decode_payloads(data, size);
  return 0;
}

// Encoding an accepted frame again must give the same bytes, and its payload must have a length that its type allows.
static void decode_frame(const uint8_t *data, size_t size) {
  struct rd_frame frame;
  struct rd_error error;
  unsigned char again[RD_HEADER_BYTES];
  if (!rd_frame_decode(data, size, &frame, &error)) {
    FUZZ_REQUIRE(error.code == RD_CODE_DATA_DAMAGED);
    return;
  }
  rd_frame_encode(&frame, again);
  FUZZ_REQUIRE(memcmp(again, data, RD_HEADER_BYTES) == 0);
  FUZZ_REQUIRE(size <= RD_HEADER_BYTES + RD_SLOT_MAX_BYTES + RD_TAG_BYTES);
  decode_payloads(data + RD_HEADER_BYTES, size - RD_HEADER_BYTES);
}

static void decode_payloads(const uint8_t *data, size_t size) {
  struct rd_error error;
  struct rd_end end;
  struct rd_abort words;
  struct rd_hello hello;
  uint64_t frames;
  if (rd_end_decode(data, size, &end, &error)) FUZZ_REQUIRE(size == (end.is_signed ? RD_END_MAX_BYTES : RD_END_BYTES));
  if (rd_ack_decode(data, size, &frames, &error)) FUZZ_REQUIRE(size == RD_ACK_BYTES);
  if (rd_hello_decode(data, size, &hello, &error)) FUZZ_REQUIRE(size == RD_HELLO_BYTES);
  if (!rd_abort_decode(data, size, &words, &error)) return;
  // Safe for a terminal: cleaning it once more changes nothing.
  char cleaned[sizeof words.reason];
  memcpy(cleaned, words.reason, sizeof cleaned);
  rd_text_clean(cleaned, strlen(cleaned));
  FUZZ_REQUIRE(strlen(cleaned) == size - 4 && strcmp(cleaned, words.reason) == 0);
}
