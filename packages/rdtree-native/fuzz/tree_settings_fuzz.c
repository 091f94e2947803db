// SPDX-License-Identifier: Apache-2.0
// Fuzzes the decoder of the settings of a copy's programs, and the compilation of their patterns.
#include "fuzz.h"
#include "fuzz_words.h"
#include "pattern/pattern.h"
#include "setup/settings.h"

static void check(const struct rd_tree_settings *settings);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  struct rd_error error;
  char *text = fuzz_words_copy(data, size);
  struct rd_tree_settings *settings = rd_tree_settings_decode(text, size, &error);
  FUZZ_REQUIRE(settings != NULL || error.code == RD_CODE_INTERNAL);
  if (settings != NULL) {
    check(settings);
    struct rd_patterns *patterns = rd_patterns_create(settings, &error);
    FUZZ_REQUIRE(patterns != NULL || error.code == RD_CODE_USAGE);
    rd_patterns_destroy(patterns);
  }
  rd_tree_settings_destroy(settings);
  free(text);
  return 0;
}

static void check(const struct rd_tree_settings *settings) {
  enum rd_tree_role role = settings->role;
  bool is_at_target = role == RD_TREE_COMPARE || role == RD_TREE_WRITE;
  FUZZ_REQUIRE(role <= RD_TREE_UNITE && settings->list <= RD_LIST_NUL && settings->plan <= RD_PLAN_JSON);
  FUZZ_REQUIRE(settings->report <= RD_REPORT_VERBOSE);
  FUZZ_REQUIRE((is_at_target || settings->source_count > 0) && settings->jobs <= 64);
  FUZZ_REQUIRE((!is_at_target && role != RD_TREE_COPY) || settings->target != NULL);
  FUZZ_REQUIRE(settings->target == NULL || *settings->target != '\0');
  FUZZ_REQUIRE(settings->link_dest_count <= RD_SETTINGS_LINK_DESTS_MAX);
  for (size_t i = 0; i < settings->source_count; i++) FUZZ_REQUIRE(*settings->sources[i] != '\0');
  for (size_t i = 0; i < settings->pattern_count; i++) FUZZ_REQUIRE(settings->patterns[i].text != NULL);
  FUZZ_REQUIRE(*settings->run != '\0' && strlen(settings->run) < sizeof settings->run);
  FUZZ_REQUIRE(strchr(settings->run, '/') == NULL && strchr(settings->run, '.') == NULL);
}
