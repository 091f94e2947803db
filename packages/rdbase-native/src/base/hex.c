// SPDX-License-Identifier: Apache-2.0
#include "base/hex.h"

static int digit_value(char digit);

bool rd_hex_encode(const unsigned char *bytes, size_t count, char *text, size_t text_bytes) {
  static const char digits[] = "0123456789abcdef";
  if (text_bytes == 0 || count > (text_bytes - 1) / 2) return false;
  for (size_t i = 0; i < count; i++) {
    text[2 * i] = digits[bytes[i] >> 4];
    text[2 * i + 1] = digits[bytes[i] & 15];
  }
  text[2 * count] = '\0';
  return true;
}

bool rd_hex_decode(const char *text, size_t digits, unsigned char *out, size_t out_bytes, size_t *count) {
  if (digits % 2 != 0 || digits / 2 > out_bytes) return false;
  for (size_t i = 0; i < digits / 2; i++) {
    int high = digit_value(text[2 * i]), low = digit_value(text[2 * i + 1]);
    if (high < 0 || low < 0) return false;
    out[i] = (unsigned char)(high << 4 | low);
  }
  *count = digits / 2;
  return true;
}

static int digit_value(char digit) {
  if (digit >= '0' && digit <= '9') return digit - '0';
  if (digit >= 'a' && digit <= 'f') return digit - 'a' + 10;
  if (digit >= 'A' && digit <= 'F') return digit - 'A' + 10;
  return -1;
}
