// SPDX-License-Identifier: Apache-2.0
// Fuzzes the patterns of a copy.
// Lines of the input up to the first empty one are patterns, the others paths. A pattern of names, `*` and `?` only
// matches like a plain matcher. After `*`, the negation of each pattern includes exactly what the pattern excludes.
#include "fuzz.h"
#include "fuzz_words.h"
#include "pattern/pattern.h"

static void check(char *line, const struct fuzz_words *words, int first_path);
static struct rd_patterns *create(struct rd_tree_pattern *list, size_t count);
static bool is_plain(const char *line);
static bool matches(const char *pattern, const char *text);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  struct fuzz_words words;
  struct rd_tree_pattern list[FUZZ_WORDS_MAX];
  size_t count = 0;
  fuzz_words_make(&words, "", data, size);
  while (count + 1 < (size_t)words.count && *words.words[count + 1] != '\0') {
    list[count].is_include = false;
    list[count].text = words.words[count + 1];
    count++;
  }
  int first_path = (int)count + 2;
  struct rd_patterns *patterns = create(list, count);
  for (int at = first_path; patterns != NULL && at < words.count; at++)
    (void)rd_patterns_exclude(patterns, rd_bytes_of(words.words[at]), false);
  rd_patterns_destroy(patterns);
  for (size_t i = 0; i < count; i++) check(list[i].text, &words, first_path);
  fuzz_words_free(&words);
  return 0;
}

static void check(char *line, const struct fuzz_words *words, int first_path) {
  static char all[] = "*";
  struct rd_tree_pattern list[] = {{.text = line}, {.text = all}, {.is_include = true, .text = line}};
  struct rd_patterns *alone = create(list, 1);
  if (alone == NULL) return;
  bool may_negate = *line != '#' && *line != '!';
  struct rd_patterns *negated = may_negate ? create(list + 1, 2) : NULL;
  for (int at = first_path; at < words->count; at++) {
    const char *path = words->words[at], *slash = strrchr(path, '/');
    struct rd_bytes bytes = rd_bytes_of(path);
    bool of_file = rd_patterns_exclude(alone, bytes, false), of_directory = rd_patterns_exclude(alone, bytes, true);
    FUZZ_REQUIRE((of_directory || !of_file) && (*path != '\0' || !of_directory));
    if (is_plain(line)) FUZZ_REQUIRE(of_file == (*path != '\0' && matches(line, slash == NULL ? path : slash + 1)));
    if (may_negate && *path != '\0') FUZZ_REQUIRE(of_file != rd_patterns_exclude(negated, bytes, false));
  }
  rd_patterns_destroy(negated);
  rd_patterns_destroy(alone);
}

// Returns NULL if one of the patterns is refused.
static struct rd_patterns *create(struct rd_tree_pattern *list, size_t count) {
  const struct rd_tree_settings settings = {.patterns = list, .pattern_count = count};
  struct rd_error error;
  struct rd_patterns *patterns = rd_patterns_create(&settings, &error);
  FUZZ_REQUIRE(patterns != NULL || error.code == RD_CODE_USAGE);
  return patterns;
}

static bool is_plain(const char *line) {
  return *line != '\0' && *line != '#' && strpbrk(line, "[\\/! ") == NULL;
}

// Goes back to the last star only: the matches of earlier stars need not change.
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
