// SPDX-License-Identifier: Apache-2.0
// Fuzzes the agent's command line with the NUL-terminated words of the input.
#include "fuzz.h"
#include "fuzz_words.h"
#include "protocol/agent_options.h"

#include <getopt.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  struct fuzz_words words;
  struct rd_agent_options options;
  struct rd_error error;
  fuzz_words_make(&words, "rdstage", data, size);
  optind = 0; // a process parses only one command line, and starts with this value
  bool good = rd_agent_options_parse(words.count, words.words, &options, &error);
  FUZZ_REQUIRE(good || error.code == RD_CODE_USAGE);
  if (good && options.mode == RD_OPTIONS_AGENT)
    FUZZ_REQUIRE(options.nonce != NULL && strpbrk(options.nonce, " \n") == NULL);
  if (good && options.mode == RD_OPTIONS_DIE_WITH_PARENT) FUZZ_REQUIRE(options.command[0] != NULL);
  if (good) FUZZ_REQUIRE(options.user_stdin < 0 || options.user_stdin > 2);
  fuzz_words_free(&words);
  return 0;
}
