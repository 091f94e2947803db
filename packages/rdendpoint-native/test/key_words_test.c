// SPDX-License-Identifier: Apache-2.0
// Keys as words: the effect of each bit, and which typing mistakes are found.
#include "crypto/key_words.h"

#include "test.h"

#include <string.h>

#define WORD_LETTERS 5
#define WORDS_THERE_ARE 65536u

static char words[WORDS_THERE_ARE][WORD_LETTERS + 1];

static void encode(const unsigned char *bits, char out[RD_KEY_WORDS_BYTES]) {
  rd_key_words_encode(bits, out);
  CHECK(strlen(out) == RD_KEY_WORDS_BYTES - 1);
}

// Examples from the proquint proposal.
static void known_words(void) {
  static const unsigned char bits[] = {127, 0, 0, 1, 63, 84, 220, 193, 63, 118, 7, 35, 140, 98, 193, 141};
  char text[RD_KEY_WORDS_BYTES];
  encode(bits, text);
  CHECK(strcmp(text, "lusab-babad-gutih-tugad-gutuk-bisog-mudof-sakat") == 0);
}

static int compare_words(const void *one, const void *other) {
  return strcmp(one, other);
}

// Every value gives another word, at each of the eight places.
static void every_word_is_another(void) {
  for (unsigned place = 0; place < RD_KEY_WORDS; place++) {
    for (unsigned i = 0; i < WORDS_THERE_ARE; i++) {
      unsigned char bits[RD_KEY_WORDS_BITS_BYTES] = {0};
      char text[RD_KEY_WORDS_BYTES];
      bits[2 * place] = (unsigned char)(i >> 8);
      bits[2 * place + 1] = (unsigned char)i;
      rd_key_words_encode(bits, text);
      memcpy(words[i], text + (size_t)place * (WORD_LETTERS + 1), WORD_LETTERS);
      REQUIRE(rd_key_words_mistyped(text) == 0);
    }
    qsort(words, WORDS_THERE_ARE, sizeof words[0], compare_words);
    for (unsigned i = 1; i < WORDS_THERE_ARE; i++) REQUIRE(strcmp(words[i - 1], words[i]) != 0);
  }
}

static unsigned value_of(const char *alphabet, char letter) {
  const char *found = strchr(alphabet, letter);
  REQUIRE(found != NULL && letter != '\0');
  return (unsigned)(found - alphabet);
}

static void decode(const char *text, unsigned char bits[RD_KEY_WORDS_BITS_BYTES]) {
  for (unsigned i = 0; i < RD_KEY_WORDS; i++, text += WORD_LETTERS + 1) {
    unsigned word = 0;
    for (unsigned j = 0; j < WORD_LETTERS; j++)
      word = j % 2 == 0 ? word << 4 | value_of("bdfghjklmnprstvz", text[j]) : word << 2 | value_of("aiou", text[j]);
    bits[2 * i] = (unsigned char)(word >> 8);
    bits[2 * i + 1] = (unsigned char)word;
  }
}

// All 128 bits are in the text; and two generated keys differ in about 64 of them.
static void made_keys_hold_their_bits(void) {
  unsigned char ever_set[RD_KEY_WORDS_BITS_BYTES] = {0}, ever_clear[RD_KEY_WORDS_BITS_BYTES] = {0};
  for (unsigned i = 0; i < 200; i++) {
    char text[RD_KEY_WORDS_BYTES], again[RD_KEY_WORDS_BYTES];
    unsigned char bits[RD_KEY_WORDS_BITS_BYTES];
    struct rd_error error;
    REQUIRE(rd_key_words_make(text, &error));
    decode(text, bits);
    encode(bits, again);
    CHECK(strcmp(text, again) == 0);
    for (unsigned j = 0; j < sizeof bits; j++) {
      ever_set[j] |= bits[j];
      ever_clear[j] |= (unsigned char)~bits[j];
    }
  }
  for (unsigned j = 0; j < sizeof ever_set; j++) CHECK(ever_set[j] == 0xff && ever_clear[j] == 0xff);
}

static void mistakes_are_seen(void) {
  CHECK(rd_key_words_mistyped("lusab-babad-gutih-tugad-gutuk-bisog-mudof-sakat") == 0);
  CHECK(rd_key_words_mistyped("lusab-babad-gutih-tugad-gutuk-bisog-mudof-sakax") == 8);
  CHECK(rd_key_words_mistyped("luasb-babad-gutih-tugad-gutuk-bisog-mudof-sakat") == 1);
  CHECK(rd_key_words_mistyped("lusab-baba-gutih-tugad-gutuk-bisog-mudof-sakat") == 2);
  CHECK(rd_key_words_mistyped("lusab-babad-gutih-tugads-gutuk-bisog-mudof-sakat") == 4);
  CHECK(rd_key_words_mistyped("lusab-babad-gutih-Tugad-gutuk-bisog-mudof-sakat") == 4);
}

static void other_keys_are_no_mistakes(void) {
  static const char *const keys[] = {"",
                                     "-",
                                     "secret",
                                     "-------",
                                     "one-of-our-own-with-seven-signs-in-it",
                                     "lusab-babad-gutih-tugad-of-our-own-words",
                                     "lusab-babad-gutih-tugad-gutuk-bisog-mudof-sakat-and-more"};
  for (unsigned i = 0; i < sizeof keys / sizeof keys[0]; i++) CHECK(rd_key_words_mistyped(keys[i]) == 0);
}

int main(void) {
  known_words();
  every_word_is_another();
  made_keys_hold_their_bits();
  mistakes_are_seen();
  other_keys_are_no_mistakes();
  return test_end("key_words");
}
