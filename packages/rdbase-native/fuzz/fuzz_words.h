// SPDX-License-Identifier: Apache-2.0
// A command line made from a fuzzer's bytes: each word ends at a NUL or a newline.
#ifndef RD_FUZZ_WORDS_H
#define RD_FUZZ_WORDS_H

#include "fuzz.h"

#define FUZZ_WORDS_MAX 32

struct fuzz_words {
  char *words[FUZZ_WORDS_MAX + 1]; // argv; ends with NULL
  int count;
};

// Copies one word into its own allocation, so that a read past its end is detected.
static inline char *fuzz_words_copy(const void *bytes, size_t count) {
  char *word = malloc(count + 1);
  FUZZ_REQUIRE(word != NULL);
  if (count > 0) memcpy(word, bytes, count);
  word[count] = '\0';
  return word;
}

// Splits the input into words after the first one, `name`. Free with fuzz_words_free().
static inline void fuzz_words_make(struct fuzz_words *words, const char *name, const uint8_t *bytes, size_t count) {
  *words = (struct fuzz_words){.count = 1};
  words->words[0] = fuzz_words_copy(name, strlen(name));
  for (size_t begin = 0; begin < count && words->count < FUZZ_WORDS_MAX;) {
    size_t end = begin;
    while (end < count && bytes[end] != '\0' && bytes[end] != '\n') end++;
    words->words[words->count++] = fuzz_words_copy(bytes + begin, end - begin);
    begin = end + 1;
  }
}

static inline void fuzz_words_free(struct fuzz_words *words) {
  for (int i = 0; i < FUZZ_WORDS_MAX; i++) free(words->words[i]);
}

#endif
