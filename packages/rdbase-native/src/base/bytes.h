// SPDX-License-Identifier: Apache-2.0
// Integers in little-endian order at any address.
#ifndef RD_BASE_BYTES_H
#define RD_BASE_BYTES_H

#include <endian.h>
#include <stdint.h>
#include <string.h>

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
