// SPDX-License-Identifier: Apache-2.0
// A key that rdrecv generates because none was given.
// It is shown only on the terminal: standard output carries the data, and standard error may be a log.
#ifndef RD_KEY_OFFER_H
#define RD_KEY_OFFER_H

#include "crypto/key_words.h"

#include <stdint.h>

// Generates the key; call it once per process. Returns false (RD_CODE_USAGE) if there is no terminal.
bool rd_key_offer_make(char words[RD_KEY_WORDS_BYTES], struct rd_error *error);

// Shows, once, the command for the sender and the generated key, and wipes this copy of the key. `host`: "" for this
// machine's name.
void rd_key_offer_show(const char *host, uint16_t port);

#endif
