// SPDX-License-Identifier: Apache-2.0
// Shared by the fuzz targets: each is one LLVMFuzzerTestOneInput(), linked with libFuzzer (make FUZZ=1) or with
// replay.c, which runs the saved corpus.
#ifndef RD_FUZZ_H
#define RD_FUZZ_H

#include "base/bytes.h"

#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

// Must hold for every input; a violation is a finding.
#define FUZZ_REQUIRE(condition)                                                                                        \
  do {                                                                                                                 \
    if (!(condition)) {                                                                                                \
      fprintf(stderr, "%s:%d: %s\n", __FILE__, __LINE__, #condition);                                                  \
      abort();                                                                                                         \
    }                                                                                                                  \
  } while (0)

// The input, from which a target takes its decisions one after the other; yields zeros when it is used up.
struct fuzz_input {
  const uint8_t *bytes;
  size_t left;
};

// Takes up to `most` bytes without copying them and returns their number; if it is 0, *bytes may be past the end.
static inline size_t fuzz_take(struct fuzz_input *input, size_t most, const uint8_t **bytes) {
  size_t taken = most < input->left ? most : input->left;
  *bytes = input->bytes;
  input->bytes += taken;
  input->left -= taken;
  return taken;
}

static inline uint64_t fuzz_number(struct fuzz_input *input, size_t width_bytes) {
  const uint8_t *bytes;
  unsigned char whole[8] = {0};
  size_t taken = fuzz_take(input, width_bytes, &bytes);
  if (taken > 0) memcpy(whole, bytes, taken);
  return rd_get_u64(whole);
}

static inline uint8_t fuzz_u8(struct fuzz_input *input) {
  return (uint8_t)fuzz_number(input, 1);
}

static inline uint16_t fuzz_u16(struct fuzz_input *input) {
  return (uint16_t)fuzz_number(input, 2);
}

static inline uint32_t fuzz_u32(struct fuzz_input *input) {
  return (uint32_t)fuzz_number(input, 4);
}

static inline uint64_t fuzz_u64(struct fuzz_input *input) {
  return fuzz_number(input, 8);
}

#endif
