// SPDX-License-Identifier: Apache-2.0
#include "base/text.h"

#include "base/text_unsafe.h"

#include <stdbool.h>
#include <stdint.h>

static size_t character_bytes(const unsigned char *text, size_t left);
static size_t expected_bytes(unsigned char first);
static uint32_t code_point(const unsigned char *text, size_t length);
static bool is_unsafe(uint32_t point);

void rd_text_clean(char *text, size_t bytes) {
  for (size_t i = 0; i < bytes;) {
    size_t length = character_bytes((const unsigned char *)text + i, bytes - i);
    if (length == 0) text[i] = '?';
    i += length == 0 ? 1 : length;
  }
}

// Returns the length in bytes of the character at `text`; 0 if it must be replaced.
static size_t character_bytes(const unsigned char *text, size_t left) {
  static const uint32_t smallest[] = {0, 0, 0x80, 0x800, 0x10000};
  size_t length = expected_bytes(text[0]);
  if (length == 0 || length > left) return 0;
  for (size_t i = 1; i < length; i++)
    if ((text[i] & 0xc0) != 0x80) return 0;
  uint32_t point = code_point(text, length);
  return point < smallest[length] || point > 0x10ffff || is_unsafe(point) ? 0 : length;
}

static size_t expected_bytes(unsigned char first) {
  if (first < 0x80) return 1;
  if (first >= 0xc2 && first < 0xe0) return 2;
  if (first >= 0xe0 && first < 0xf0) return 3;
  return first >= 0xf0 && first < 0xf5 ? 4 : 0;
}

static uint32_t code_point(const unsigned char *text, size_t length) {
  if (length == 1) return text[0];
  uint32_t point = text[0] & (0x7fu >> length);
  for (size_t i = 1; i < length; i++) point = point << 6 | (text[i] & 0x3fu);
  return point;
}

static bool is_unsafe(uint32_t point) {
  for (size_t i = 0; i < sizeof text_unsafe / sizeof *text_unsafe; i++)
    if (point >= text_unsafe[i].first && point <= text_unsafe[i].last) return true;
  return false;
}
