// SPDX-License-Identifier: Apache-2.0
// Fuzzes the patterns of a copy: the input's lines are paths, and before the first empty line patterns.
// A pattern of names, `*` and `?` alone matches as a plain matcher says, and each pattern decides alone as its negation
// does against all.
#include "fuzz.h"
#include "fuzz_words.h"
#include "pattern/pattern.h"

static bool excludes(struct rd_tree_pattern *list, size_t count, const char *path, bool is_directory);
static void check_one(char *line, const char *path);
static bool is_plain(const char *line);
static bool matches(const char *pattern, const char *text);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  struct fuzz_words words;
  struct rd_tree_pattern list[FUZZ_WORDS_MOST];
  size_t count = 0;
  fuzz_words_make(&words, "", data, size);
  int at = 1;
  for (; at < words.count && *words.words[at] != '\0'; at++)
    list[count++] = (struct rd_tree_pattern){.text = words.words[at]};
  for (; at < words.count; at++) {
    const char *path = words.words[at];
    if (excludes(list, count, path, false)) FUZZ_REQUIRE(*path != '\0');
    for (size_t i = 0; i < count; i++) check_one(list[i].text, path);
  }
  fuzz_words_free(&words);
  return 0;
}

// False too where a pattern is refused.
static bool excludes(struct rd_tree_pattern *list, size_t count, const char *path, bool is_directory) {
  const struct rd_tree_settings settings = {.patterns = list, .pattern_count = count};
  struct rd_error error;
  struct rd_patterns *patterns = rd_patterns_create(&settings, &error);
  FUZZ_REQUIRE(patterns != NULL || error.code == RD_CODE_USAGE);
  bool is = patterns != NULL && rd_patterns_exclude(patterns, rd_bytes_of(path), is_directory);
  rd_patterns_destroy(patterns);
  return is;
}

static void check_one(char *line, const char *path) {
  static char all[] = "*";
  struct rd_tree_pattern one = {.text = line};
  bool of_file = excludes(&one, 1, path, false), of_directory = excludes(&one, 1, path, true);
  FUZZ_REQUIRE(of_directory || !of_file);
  if (is_plain(line)) {
    const char *slash = strrchr(path, '/');
    FUZZ_REQUIRE(of_file == (*path != '\0' && matches(line, slash == NULL ? path : slash + 1)));
  }
  if (*line == '#' || *line == '!' || *path == '\0' || path[strlen(path) - 1] == '/') return;
  struct rd_tree_pattern both[] = {{.text = all}, {.is_include = true, .text = line}};
  if (of_file) FUZZ_REQUIRE(!excludes(both, 2, path, false));
}

static bool is_plain(const char *line) {
  return *line != '\0' && *line != '#' && strpbrk(line, "[\\/! ") == NULL;
}

// Goes back to the last star alone, for what earlier ones match may stay as it is.
static bool matches(const char *pattern, const char *text) {
  const char *after_star = NULL, *star_text = NULL;
  while (*text != '\0' || *pattern == '*') {
    if (*pattern == '*') {
      after_star = ++pattern;
      star_text = text;
    } else if (*pattern != '\0' && (*pattern == '?' || *pattern == *text)) {
      pattern++;
      text++;
    } else if (after_star != NULL && *star_text != '\0') {
      pattern = after_star;
      text = ++star_text;
    } else {
      return false;
    }
  }
  return *pattern == '\0';
}
