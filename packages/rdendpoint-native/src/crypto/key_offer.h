// SPDX-License-Identifier: Apache-2.0
// A key that rdrecv makes because none was given.
// It is shown on the terminal only: standard output carries the data, and standard error may be a log.
#ifndef RD_CRYPTO_KEY_OFFER_H
#define RD_CRYPTO_KEY_OFFER_H

#include "crypto/key_words.h"

#include <stdint.h>

struct rd_key_offer {
  int terminal_fd; // -1: nothing to show, or it was shown
  char words[RD_KEY_WORDS_BYTES];
};

#define RD_NO_KEY_OFFER ((struct rd_key_offer){.terminal_fd = -1})

// False: RD_CODE_USAGE where there is no terminal.
bool rd_key_offer_make(struct rd_key_offer *offer, struct rd_error *error);

// Shows, once, the command for the sender and the key, and wipes the key. `host`: "" for this machine's name.
void rd_key_offer_show(struct rd_key_offer *offer, const char *host, uint16_t port);

#endif
