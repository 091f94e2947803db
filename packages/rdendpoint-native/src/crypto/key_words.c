// SPDX-License-Identifier: Apache-2.0
#include "crypto/key_words.h"

#include <string.h>
#include <sys/random.h>

#define WORD_LETTERS 5u

static const char consonants[] = "bdfghjklmnprstvz"; // 4 bits
static const char vowels[] = "aiou";                 // 2 bits

static void encode_word(unsigned bits, char out[WORD_LETTERS]);
static bool is_word(const char *text, size_t letters);

void rd_key_words_encode(const unsigned char bits[RD_KEY_WORDS_BITS_BYTES], char out[RD_KEY_WORDS_BYTES]) {
  for (unsigned i = 0; i < RD_KEY_WORDS; i++) {
    encode_word((unsigned)bits[2 * i] << 8 | bits[2 * i + 1], out);
    out[WORD_LETTERS] = i + 1 < RD_KEY_WORDS ? '-' : '\0';
    out += WORD_LETTERS + 1;
  }
}

bool rd_key_words_make(char out[RD_KEY_WORDS_BYTES], struct rd_error *error) {
  unsigned char bits[RD_KEY_WORDS_BITS_BYTES];
  bool made = getrandom(bits, sizeof bits, 0) == (ssize_t)sizeof bits;
  if (made)
    rd_key_words_encode(bits, out);
  else
    rd_error_set_errno(error, RD_CODE_INTERNAL, "cannot generate a key");
  explicit_bzero(bits, sizeof bits);
  return made;
}

unsigned rd_key_words_mistyped(const char *text) {
  unsigned words = 0, right = 0, wrong_at = 0;
  for (const char *word = text; word != NULL && words <= RD_KEY_WORDS; words++) {
    const char *end = strchr(word, '-');
    if (is_word(word, end != NULL ? (size_t)(end - word) : strlen(word)))
      right++;
    else if (wrong_at == 0)
      wrong_at = words + 1;
    word = end != NULL ? end + 1 : NULL;
  }
  return words == RD_KEY_WORDS && right > RD_KEY_WORDS / 2 ? wrong_at : 0;
}

static void encode_word(unsigned bits, char out[WORD_LETTERS]) {
  out[0] = consonants[bits >> 12];
  out[1] = vowels[bits >> 10 & 3];
  out[2] = consonants[bits >> 6 & 15];
  out[3] = vowels[bits >> 4 & 3];
  out[4] = consonants[bits & 15];
}

static bool is_word(const char *text, size_t letters) {
  if (letters != WORD_LETTERS) return false;
  for (size_t i = 0; i < letters; i++)
    if (strchr(i % 2 == 0 ? consonants : vowels, text[i]) == NULL) return false;
  return true;
}
