// SPDX-License-Identifier: Apache-2.0
// A key as words that can be said and typed: eight of five letters, joined by `-`, each 16 bits.
#ifndef RD_CRYPTO_KEY_WORDS_H
#define RD_CRYPTO_KEY_WORDS_H

#include "base/error.h"

#include <stddef.h>

#define RD_KEY_WORDS 8
#define RD_KEY_WORDS_BITS_BYTES 16u
#define RD_KEY_WORDS_BYTES 48u // of the text, its NUL included

void rd_key_words_encode(const unsigned char bits[RD_KEY_WORDS_BITS_BYTES], char out[RD_KEY_WORDS_BYTES]);

// Bits of the system's generator, by a message. False: RD_CODE_INTERNAL.
bool rd_key_words_make(char out[RD_KEY_WORDS_BYTES], struct rd_error *error);

// Which word of such a key is mistyped, from 1: it has eight words, most of them right, but not this one. 0: none, or
// the text is another kind of key.
unsigned rd_key_words_mistyped(const char *text);

#endif
