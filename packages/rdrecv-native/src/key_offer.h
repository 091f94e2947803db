// SPDX-License-Identifier: Apache-2.0
// A key that rdrecv makes because none was given.
// It is shown on the terminal only: standard output carries the data, and standard error may be a log.
#ifndef RD_KEY_OFFER_H
#define RD_KEY_OFFER_H

#include "crypto/key_words.h"

#include <stdint.h>

// Once a process. False: RD_CODE_USAGE where there is no terminal.
bool rd_key_offer_make(char words[RD_KEY_WORDS_BYTES], struct rd_error *error);

// Shows, once, the command for the sender and the key that was made, and wipes it here. `host`: "" for this machine's
// name.
void rd_key_offer_show(const char *host, uint16_t port);

#endif
