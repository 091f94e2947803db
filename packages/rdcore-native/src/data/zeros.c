// SPDX-License-Identifier: Apache-2.0
#include "data/zeros.h"

#include <stdbool.h>
#include <stdint.h>
#include <string.h>

static size_t rest_of_block(off_t offset, size_t count);
static bool are_zero(const unsigned char *bytes, size_t count);

size_t rd_zeros_at(off_t offset, const unsigned char *bytes, size_t count) {
  size_t at = 0;
  while (at < count) {
    size_t part = rest_of_block(offset + (off_t)at, count - at);
    if (!are_zero(bytes + at, part)) break;
    at += part;
  }
  return at;
}

size_t rd_data_at(off_t offset, const unsigned char *bytes, size_t count) {
  size_t at = 0;
  while (at < count) {
    size_t run = rd_zeros_at(offset + (off_t)at, bytes + at, count - at);
    if (run >= RD_HOLE_LEAST_BYTES || (run > 0 && run == count - at)) break;
    at += run;
    at += rest_of_block(offset + (off_t)at, count - at);
  }
  return at;
}

static size_t rest_of_block(off_t offset, size_t count) {
  size_t rest = RD_BLOCK_BYTES - (size_t)((uint64_t)offset % RD_BLOCK_BYTES);
  return rest < count ? rest : count;
}

// Compared with itself, one byte on: the C library does that with wide registers. Of other bytes the first or the last
// one mostly tells.
static bool are_zero(const unsigned char *bytes, size_t count) {
  return bytes[0] == 0 && bytes[count - 1] == 0 && memcmp(bytes, bytes + 1, count - 1) == 0;
}
