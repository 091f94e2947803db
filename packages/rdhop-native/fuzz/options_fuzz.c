// SPDX-License-Identifier: Apache-2.0
// Fuzzes the command line of rdsend and rdrecv with the NUL-terminated words of the input.
#include "fuzz.h"
#include "fuzz_words.h"
#include "receiver_options.h"
#include "sender_options.h"

static void check_settings(const struct rd_options *options);
static void check_key_is_wiped(const struct fuzz_words *words, const struct rd_options *options);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  if (size == 0) return 0;
  enum rd_role role = data[0] % 2 == 0 ? RD_ROLE_SENDER : RD_ROLE_RECEIVER;
  struct fuzz_words words;
  struct rd_options options;
  struct rd_error error;
  fuzz_words_make(&words, "rdpipe", data + 1, size - 1);
  bool good = rd_options_parse(role == RD_ROLE_SENDER ? &rd_sender_command_line : &rd_receiver_command_line,
                               words.count, words.words, &options, &error);
  FUZZ_REQUIRE(good || error.code == RD_CODE_USAGE);
  if (good) check_settings(&options);
  if (good && options.mode == RD_MODE_STANDALONE) check_key_is_wiped(&words, &options);
  fuzz_words_free(&words);
  return 0;
}

static void check_settings(const struct rd_options *options) {
  const struct rd_settings *settings = &options->settings;
#define IS_BOUNDED(name, row) FUZZ_REQUIRE(settings->name >= RD_##row##_MIN && settings->name <= RD_##row##_MAX);
#define IS_BOOLEAN(name, row)
  RD_HOP_OPTIONS(IS_BOUNDED, IS_BOOLEAN)
  FUZZ_REQUIRE(settings->listen_timeout_ms >= 0);
  FUZZ_REQUIRE(options->mode != RD_MODE_AGENT || options->agent_fd >= 0);
  bool has_key = options->key_text[0] != '\0';
  FUZZ_REQUIRE(options->mode != RD_MODE_STANDALONE || has_key || options->role == RD_ROLE_RECEIVER);
}

// Checks that some word is a "-", or consists of as many stars as the key has characters.
static void check_key_is_wiped(const struct fuzz_words *words, const struct rd_options *options) {
  size_t length = strlen(options->key_text);
  bool wiped = length == 0;
  for (int i = 1; i < words->count && !wiped; i++) {
    const char *word = words->words[i];
    wiped = strcmp(word, "-") == 0 || (strlen(word) == length && strspn(word, "*") == length);
  }
  FUZZ_REQUIRE(wiped);
}
