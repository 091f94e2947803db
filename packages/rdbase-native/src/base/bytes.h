// SPDX-License-Identifier: Apache-2.0
// Reads and writes little-endian integers at any address, aligned or not.
#ifndef RD_BASE_BYTES_H
#define RD_BASE_BYTES_H

#include <endian.h>
#include <stdint.h>
#include <string.h>

// Each rd_put_*() writes `value` to `out`; each rd_get_*() returns the value at `bytes`.
static inline void rd_put_u16(unsigned char *out, uint16_t value) {
  value = htole16(value);
  memcpy(out, &value, sizeof value);
}

static inline void rd_put_u32(unsigned char *out, uint32_t value) {
  value = htole32(value);
  memcpy(out, &value, sizeof value);
}

static inline void rd_put_u64(unsigned char *out, uint64_t value) {
  value = htole64(value);
  memcpy(out, &value, sizeof value);
}

static inline uint16_t rd_get_u16(const unsigned char *bytes) {
  uint16_t value;
  memcpy(&value, bytes, sizeof value);
  return le16toh(value);
}

static inline uint32_t rd_get_u32(const unsigned char *bytes) {
  uint32_t value;
  memcpy(&value, bytes, sizeof value);
  return le32toh(value);
}

static inline uint64_t rd_get_u64(const unsigned char *bytes) {
  uint64_t value;
  memcpy(&value, bytes, sizeof value);
  return le64toh(value);
}

#endif
