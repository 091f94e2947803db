// SPDX-License-Identifier: Apache-2.0
// Tests of the patterns of a copy.
// `pattern_test -` answers questions on standard input, for the comparison with git.
#include "pattern/pattern.h"

#include "base/cleanup.h"
#include "base/io.h"
#include "base/memory.h"
#include "test.h"

#include <string.h>

#define LINES_MAX 64

static struct rd_error error;
static char *lines[LINES_MAX];
static struct rd_tree_pattern list[LINES_MAX];
static struct rd_tree_settings settings = {.patterns = list};

static void add(const char *line, bool is_include) {
  REQUIRE(settings.pattern_count < LINES_MAX);
  size_t i = settings.pattern_count++;
  lines[i] = rd_memory_copy(line, strlen(line));
  list[i] = (struct rd_tree_pattern){is_include, lines[i]};
}

static void forget(void) {
  for (size_t i = 0; i < settings.pattern_count; i++) free(lines[i]);
  settings.pattern_count = 0;
}

// Excludes everything below an excluded directory.
static bool is_excluded(const struct rd_patterns *patterns, const char *path, bool is_directory) {
  const unsigned char *at = (const unsigned char *)path;
  for (const char *slash = path; (slash = strchr(slash, '/')) != NULL; slash++)
    if (rd_patterns_exclude(patterns, (struct rd_bytes){at, (size_t)(slash - path)}, true)) return true;
  return rd_patterns_exclude(patterns, rd_bytes_of(path), is_directory);
}

// Checks a path against the lines added before, which it forgets. A path that ends with a slash is a directory.
static bool excludes(const char *path) {
  char name[8192];
  size_t count = strlen(path);
  bool is_directory = count > 0 && path[count - 1] == '/';
  snprintf(name, sizeof name, "%.*s", (int)(count - is_directory), path);
  struct rd_patterns *patterns = rd_patterns_create(&settings, &error);
  forget();
  REQUIRE(patterns != NULL);
  bool is = is_excluded(patterns, name, is_directory);
  rd_patterns_destroy(patterns);
  return is;
}

static bool line_excludes(const char *line, const char *path) {
  add(line, false);
  return excludes(path);
}

static void test_lines(void) {
  static const struct {
    const char *line, *path;
    bool is_excluded;
  } rows[] = {
      {"", "a", false},
      {"   ", "   ", false},
      {"#a", "#a", false},
      {"\\#a", "#a", true},
      {"\\!a", "!a", true},
      {"!!a", "!a", false},
      {"a  ", "a", true},
      {"a\\ ", "a ", true},
      {"a\\  ", "a ", true},
      {"a\\\\ ", "a\\", true},
      {" a", "a", false},
      {"a\t", "a\t", true},
      {"a", "b/c/a", true},
      {"a", "A", false},
      {"a", "ab", false},
      {"a/", "a", false},
      {"a/", "a/", true},
      {"a/", "b/a/", true},
      {"a/", "a/b", true},
      {"/", "a/", false},
      {"//", "a/", false},
      {"/a", "a", true},
      {"/a", "b/a", false},
      {"a/b", "a/b", true},
      {"a/b", "c/a/b", false},
      {"a/b/", "a/b", false},
      {"*.o", "x/y.o", true},
      {"*.o", ".o", true},
      {"*", ".hidden", true},
      {"a*c", "abbc", true},
      {"a*c", "ab/c", false},
      {"/a/*c", "a/b/c", false},
      {"a?c", "abc", true},
      {"/a?c", "a/c", false},
      {"?", "\xc3\xa9", false},
      {"??", "\xc3\xa9", true},
      {"**/a", "a", true},
      {"**/a", "b/c/a", true},
      {"**/a/b", "c/a/b", true},
      {"a/**", "a/", false},
      {"a/**", "a/b/c", true},
      {"a/**/b", "a/b", true},
      {"a/**/b", "a/c/d/b", true},
      {"a/**/b", "a/cb", false},
      {"/**/", "a", false},
      {"/**/", "a/", true},
      {"/**", "a", true},
      {"/b/a**d", "b/ac/d", false},
      {"/b/**a", "b/c/a", false},
      {"/[ab]/**c", "a/d/c", false},
      {"a**/b", "ab", true}, // surprising, but as in git
      {"a**/b", "a/c/b", true},
      {"?**/b", "a/c/b", false},
      {"[a-c]", "b", true},
      {"[a-c]", "d", false},
      {"[!a-c]", "d", true},
      {"[^a-c]", "b", false},
      {"[]a]", "]", true},
      {"[!]a]", "]", false},
      {"[a-]", "-", true},
      {"[a-c-e]", "d", false},
      {"[\\]]", "]", true},
      {"[a-\\c]", "b", true},
      {"[[:upper:][:digit:]]", "7", true},
      {"[[:upper:][:digit:]]", "a", false},
      {"[[:space:]]", "\v", false},
      {"[[a]", "[", true},
      {"[[:a]", ":", true},
      {"/a[^b]c", "a/c", false},
      {"/a[/]c", "a/c", false},
      {"\\*", "*", true},
      {"\\*", "a", false},
      {"\\a", "a", true},
      {"\xff*", "\xff\xfe", true},
  };
  for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
    if (!CHECK(line_excludes(rows[i].line, rows[i].path) == rows[i].is_excluded))
      fprintf(stderr, "  '%s' of '%s'\n", rows[i].line, rows[i].path);
}

static void test_the_last_that_matches_decides(void) {
  add("*", false), add("!a", false);
  CHECK(!excludes("a"));
  add("!a", false), add("*", false);
  CHECK(excludes("a"));
  add("*", false), add("*.c", true), add("x.c", false);
  CHECK(!excludes("a.c"));
  add("*", false), add("*.c", true), add("x.c", false);
  CHECK(excludes("x.c"));
  add("a/", false), add("a/b", true); // an excluded directory excludes everything below it
  CHECK(excludes("a/b"));
  CHECK(!excludes("a"));
}

static void test_includes(void) {
  add("*", false), add("#a", true);
  CHECK(!excludes("#a"));
  add("*", false), add("!a", true);
  CHECK(excludes("a"));
  add("*", false), add("!a", true);
  CHECK(!excludes("!a"));
  add("*", false), add("", true), add(" ", true);
  CHECK(excludes("a"));
}

static void test_damaged(void) {
  static const char *const damaged[] = {"a\\",       "[",        "a[b",     "[]",     "[!]",    "[\\",
                                        "[a\\]",     "[a-\\",    "[[:a:]]", "[[::]",  "[a-]b[", "\\[a[",
                                        "[[:a:]b]c", "[[:alpha", "!b\\",    "/[[::]]"};
  for (size_t i = 0; i < sizeof damaged / sizeof *damaged; i++) {
    add("fine", false), add(damaged[i], false);
    struct rd_patterns *patterns = rd_patterns_create(&settings, &error);
    bool is_named = patterns == NULL && error.code == RD_CODE_USAGE && strstr(error.message, damaged[i]) != NULL;
    if (!CHECK(is_named)) fprintf(stderr, "  '%s'\n", damaged[i]);
    rd_patterns_destroy(patterns);
    forget();
  }
  add("#[", false);
  CHECK(!excludes("#["));
  rd_patterns_destroy(NULL);
}

static void test_empty_path(void) {
  add("/**", false), add("*", false);
  CHECK(!excludes(""));
}

// Patterns with which a backtracking matcher would take years: then this test would not end.
static void test_time(void) {
  char names[256], path[1024], stars[1024] = "/";
  memset(names, 'a', sizeof names - 1);
  names[sizeof names - 1] = '\0';
  for (size_t i = 0; i < sizeof path - 1; i++) path[i] = i % 2 == 0 ? 'a' : '/';
  path[sizeof path - 1] = '\0';
  for (size_t i = 0; i < 200; i++) strcat(stars, "**/a/");
  strcat(stars, "b");
  CHECK(!line_excludes("*a*a*a*a*a*a*a*a*a*a*a*a*a*a*a*a*a*a*a*a*a*a*a*a*b", names));
  CHECK(!line_excludes(stars, path));
  CHECK(line_excludes("**/a/**/a/**/a/**/a/**/a", path));
}

// Reads fields that end with a NUL: `p` and `i` (an exclude, an include), `f` and `d` (the path of a file or a
// directory; the answer is 0 or 1), `n` (forgets the patterns). An invalid pattern is left out.
static int answer(void) {
  RD_AUTO_FREE char *field = NULL;
  size_t room = 0;
  struct rd_patterns *patterns = NULL;
  while (getdelim(&field, &room, '\0', stdin) > 0) {
    if (*field == 'p' || *field == 'i') {
      add(field + 1, *field == 'i');
      struct rd_tree_settings alone = {.patterns = &list[settings.pattern_count - 1], .pattern_count = 1};
      struct rd_patterns *one = rd_patterns_create(&alone, &error);
      if (one == NULL) free(lines[--settings.pattern_count]);
      rd_patterns_destroy(one);
    } else if (*field == 'n') {
      forget();
      rd_patterns_destroy(patterns);
      patterns = NULL;
    } else {
      if (patterns == NULL) patterns = rd_patterns_create(&settings, &error);
      putchar(is_excluded(patterns, field + 1, *field == 'd') ? '1' : '0');
    }
  }
  forget();
  rd_patterns_destroy(patterns);
  return fflush(stdout) == 0 ? EXIT_SUCCESS : EXIT_FAILURE;
}

int main(int argc, char **argv) {
  if (argc == 2 && strcmp(argv[1], "-") == 0) return answer();
  test_lines();
  test_the_last_that_matches_decides();
  test_includes();
  test_damaged();
  test_empty_path();
  test_time();
  return test_end("rdtree patterns");
}
