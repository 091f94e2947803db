// SPDX-License-Identifier: Apache-2.0
// Fuzzes the decoder of a forward stream: any bytes are records, are incomplete, or end the run.
#include "forward/frame.h"
#include "fuzz.h"

#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  unsigned char again[RD_FORWARD_CONTROL_MAX];
  for (size_t at = 0, used = 0; at < size; at += used) {
    struct rd_forward_frame frame;
    struct rd_error error = {0};
    enum rd_outcome outcome = rd_forward_frame_decode(data + at, size - at, &frame, &used, &error);
    if (outcome == RD_OUTCOME_FAILED) FUZZ_REQUIRE(error.code == RD_CODE_DATA_DAMAGED);
    if (outcome != RD_OUTCOME_DONE) return 0;
    FUZZ_REQUIRE(used >= RD_FORWARD_HEAD_BYTES && used <= size - at);
    FUZZ_REQUIRE(frame.text + frame.text_bytes == data + at + used);
    if (frame.type == RD_FORWARD_DATA) continue;
    FUZZ_REQUIRE(rd_forward_frame_encode(&frame, again) == used && memcmp(again, data + at, used) == 0);
  }
  return 0;
}
