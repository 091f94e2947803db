// SPDX-License-Identifier: Apache-2.0
#include "pattern/pattern.h"

#include "base/memory.h"
#include "pattern/glob.h"

#include <stdlib.h>
#include <string.h>

struct pattern {
  struct rd_glob *glob;
  bool is_include;
  bool needs_directory;
  bool is_name; // it has no slash, and matches the last name of a path in any directory
};

struct rd_patterns {
  struct pattern *list;
  size_t count;
};

static bool parse(const struct rd_tree_pattern *from, struct pattern *pattern);
static size_t trimmed_count(const char *text);
static bool matches(const struct pattern *pattern, struct rd_bytes path, struct rd_bytes name, bool is_directory);
static struct rd_bytes last_name(struct rd_bytes path);

struct rd_patterns *rd_patterns_create(const struct rd_tree_settings *settings, struct rd_error *error) {
  struct rd_patterns *patterns = rd_memory_new(1, sizeof *patterns);
  patterns->list = rd_memory_new(settings->pattern_count + 1, sizeof *patterns->list);
  for (size_t i = 0; i < settings->pattern_count; i++) {
    const struct rd_tree_pattern *from = &settings->patterns[i];
    if (parse(from, &patterns->list[patterns->count])) {
      patterns->count += patterns->list[patterns->count].glob != NULL;
      continue;
    }
    rd_error_set(error, RD_CODE_USAGE,
                 "the pattern '%.256s' can match nothing: its last byte is a backslash, a [ is not closed, or a "
                 "[:class:] is unknown",
                 from->text);
    rd_patterns_destroy(patterns);
    return NULL;
  }
  return patterns;
}

void rd_patterns_destroy(struct rd_patterns *patterns) {
  if (patterns == NULL) return;
  for (size_t i = 0; i < patterns->count; i++) rd_glob_destroy(patterns->list[i].glob);
  free(patterns->list);
  free(patterns);
}

bool rd_patterns_exclude(const struct rd_patterns *patterns, struct rd_bytes path, bool is_directory) {
  struct rd_bytes name = last_name(path);
  for (size_t i = patterns->count; path.count > 0 && i-- > 0;)
    if (matches(&patterns->list[i], path, name, is_directory)) return !patterns->list[i].is_include;
  return false;
}

// Leaves `glob` NULL if the pattern is valid but matches nothing. Returns false if it is invalid.
static bool parse(const struct rd_tree_pattern *from, struct pattern *pattern) {
  struct rd_bytes rest = {(const unsigned char *)from->text, trimmed_count(from->text)};
  *pattern = (struct pattern){.is_include = from->is_include};
  if (!from->is_include && rest.count > 0) {
    if (rest.at[0] == '#') return true;
    pattern->is_include = rest.at[0] == '!';
    rest.at += pattern->is_include;
    rest.count -= pattern->is_include;
  }
  if (rest.count > 0 && rest.at[rest.count - 1] == '/') {
    pattern->needs_directory = true;
    rest.count--;
  }
  if (rest.count == 0) return true;
  pattern->is_name = memchr(rest.at, '/', rest.count) == NULL;
  size_t root = rest.at[0] == '/';
  pattern->glob = rd_glob_create((struct rd_bytes){rest.at + root, rest.count - root});
  return pattern->glob != NULL;
}

// Returns the length without the spaces at the end, except one after a backslash.
static size_t trimmed_count(const char *text) {
  size_t trimmed = 0;
  for (size_t i = 0; text[i] != '\0'; i++) {
    if (text[i] == '\\' && text[i + 1] != '\0')
      i++;
    else if (text[i] == ' ')
      continue;
    trimmed = i + 1;
  }
  return trimmed;
}

static bool matches(const struct pattern *pattern, struct rd_bytes path, struct rd_bytes name, bool is_directory) {
  if (pattern->needs_directory && !is_directory) return false;
  return rd_glob_matches(pattern->glob, pattern->is_name ? name : path);
}

static struct rd_bytes last_name(struct rd_bytes path) {
  const unsigned char *slash = path.count > 0 ? memrchr(path.at, '/', path.count) : NULL;
  return slash == NULL ? path : (struct rd_bytes){slash + 1, (size_t)(path.at + path.count - slash) - 1};
}
