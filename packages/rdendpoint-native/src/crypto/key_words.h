// SPDX-License-Identifier: Apache-2.0
// A key as words that are easy to say and type.
// There are eight words of five letters, joined by `-`, with 16 bits each.
#ifndef RD_CRYPTO_KEY_WORDS_H
#define RD_CRYPTO_KEY_WORDS_H

#include "base/error.h"

#include <stddef.h>

#define RD_KEY_WORDS 8
#define RD_KEY_WORDS_BITS_BYTES 16u
#define RD_KEY_WORDS_BYTES 48u // including the NUL

// Formats 16 bytes as words.
void rd_key_words_encode(const unsigned char bits[RD_KEY_WORDS_BITS_BYTES], char out[RD_KEY_WORDS_BYTES]);

// Generates a key from random bits. Returns false on failure (RD_CODE_INTERNAL).
bool rd_key_words_make(char out[RD_KEY_WORDS_BYTES], struct rd_error *error);

// Returns the number, from 1, of the first mistyped word in a text of eight words of which most are right; 0 if there
// is none or the text is another kind of key.
unsigned rd_key_words_mistyped(const char *text);

#endif
