// SPDX-License-Identifier: Apache-2.0
#include "key_offer.h"

#include "base/cleanup.h"
#include "base/io.h"

#include <fcntl.h>
#include <stdio.h>
#include <string.h>

#define WORDS_BYTES 768

static struct {
  int terminal_fd; // -1: nothing to show, or already shown
  char words[RD_KEY_WORDS_BYTES];
} offer = {.terminal_fd = -1};

bool rd_key_offer_make(char words[RD_KEY_WORDS_BYTES], struct rd_error *error) {
  offer.terminal_fd = open("/dev/tty", O_WRONLY | O_CLOEXEC | O_NOCTTY);
  if (offer.terminal_fd < 0) {
    rd_error_set(error, RD_CODE_USAGE,
                 "no KEY was given, and there is no terminal on which to show a new one (use - as KEY and --key-fd N)");
    return false;
  }
  if (!rd_key_words_make(offer.words, error)) return false;
  memcpy(words, offer.words, sizeof offer.words);
  return true;
}

void rd_key_offer_show(const char *host, uint16_t port) {
  if (offer.terminal_fd < 0) return;
  char words[WORDS_BYTES], name[256] = "HOST";
  if (host[0] == '\0') {
    gethostname(name, sizeof name - 1);
    host = name;
  }
  int length = snprintf(words, sizeof words,
                        "rdrecv: on the sending host, run this (add FILE or -- COMMAND as needed):\n"
                        "    rdsend %s %u -\n"
                        "rdrecv: then enter this key when asked:\n"
                        "    %s\n",
                        host, port, offer.words);
  rd_write_all(offer.terminal_fd, words, (size_t)length);
  explicit_bzero(words, sizeof words);
  explicit_bzero(offer.words, sizeof offer.words);
  rd_cleanup_fd(&offer.terminal_fd);
}
