// SPDX-License-Identifier: Apache-2.0
// Makes text from peers safe for a terminal.
#include "base/text.h"
#include "base/text_unsafe.h"
#include "test.h"

#include <string.h>

static bool becomes(const char *words, const char *wanted) {
  char text[64];
  size_t bytes = strlen(words);
  memcpy(text, words, bytes + 1);
  rd_text_clean(text, bytes);
  return strcmp(text, wanted) == 0;
}

static void test_words(void) {
  CHECK(becomes("zfs send tank/a@now | gr\u00fc\u00dfe \u65e5\u672c \U0001f44d",
                "zfs send tank/a@now | gr\u00fc\u00dfe \u65e5\u672c \U0001f44d"));
  CHECK(becomes("a\n\tb\033[31m\177c", "a??b?[31m?c"));
  CHECK(becomes("a\xc2\x9b"
                "b",
                "a??b"));
  CHECK(becomes("a\u202eb\u2066c\u2028d\u200fe", "a???b???c???d???e"));
  CHECK(becomes("a\u200bb\ufeffc\u061cd\u2060e", "a???b???c??d???e"));
  CHECK(becomes("a\U000e0041b\U000e0001c", "a????b????c"));
  CHECK(becomes("a\xff"
                "b\xc3",
                "a?b?"));
  CHECK(becomes("a\xed\xa0\x80"
                "b\xf4\x90\x80\x80"
                "c\xc0\xaf"
                "d",
                "a???b????c??d"));
}

static size_t encode(uint32_t point, char *text) {
  static const unsigned char marks[] = {0, 0, 0xc0, 0xe0, 0xf0};
  size_t length = point < 0x80 ? 1 : point < 0x800 ? 2 : point < 0x10000 ? 3 : 4;
  for (size_t i = length; i-- > 1; point >>= 6) text[i] = (char)(0x80 | (point & 0x3f));
  text[0] = (char)(marks[length] | point);
  return length;
}

static bool is_unsafe(uint32_t point) {
  bool found = false;
  for (size_t i = 0; i < sizeof text_unsafe / sizeof *text_unsafe; i++)
    found |= point >= text_unsafe[i].first && point <= text_unsafe[i].last;
  return found;
}

static void test_every_character(void) {
  size_t wrong = 0;
  for (uint32_t point = 0; point <= 0x10ffff; point++) {
    char before[4], after[4];
    size_t length = encode(point, before);
    memcpy(after, before, length);
    rd_text_clean(after, length);
    bool stays = memcmp(before, after, length) == 0 && point != '?';
    wrong += stays == is_unsafe(point) && point != '?';
  }
  CHECK(wrong == 0);
}

int main(void) {
  test_words();
  test_every_character();
  return test_end("rdbase text");
}
