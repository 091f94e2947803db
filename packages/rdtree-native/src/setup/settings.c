// SPDX-License-Identifier: Apache-2.0
#include "setup/settings.h"

#include "base/cleanup.h"
#include "base/hex.h"
#include "base/memory.h"
#include "base/option_table.h"

#include <jansson.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define SOURCES_MAX (1u << 20) // a request has at most 16 MiB
#define PATTERNS_MAX 65536u
#define WIDTH_MAX 10000 // as many hosts as a list has
#define THREADS_MAX 8   // that are not asked for

static bool decode_object(json_t *object, struct rd_tree_settings *settings, struct rd_error *error);
static bool decode_part(json_t *object, struct rd_tree_settings *settings, struct rd_error *error);
static const char *decode_options(const json_t *object, struct rd_tree_settings *settings);
static bool get_number(const json_t *value, json_int_t least, json_int_t most, uint64_t *out);
static bool get_flag(const json_t *value, bool *out);
static bool get_word(const json_t *value, const char *const *words, int *out);
static bool decode_list(const json_t *hex, struct rd_tree_settings *settings, struct rd_error *error);
static bool decode_key(const json_t *hex, struct rd_tree_settings *settings, struct rd_error *error);
static bool decode_sources(const json_t *array, struct rd_tree_settings *settings, struct rd_error *error);
static bool decode_link_dests(const json_t *array, struct rd_tree_settings *settings, struct rd_error *error);
static bool decode_patterns(const json_t *array, struct rd_tree_settings *settings, struct rd_error *error);
static bool decode_run(const char *run, struct rd_tree_settings *settings, struct rd_error *error);
static char *bytes_of(const json_t *hex, size_t *bytes);
static char *text_of(const json_t *hex);
static char *path_of(const json_t *hex);
static bool has_paths(const struct rd_tree_settings *settings, struct rd_error *error);
static bool invalid(struct rd_error *error, const char *reason);

struct rd_tree_settings *rd_tree_settings_decode(const char *text, size_t bytes, struct rd_error *error) {
  json_error_t why;
  json_t *object = json_loadb(text, bytes, JSON_REJECT_DUPLICATES, &why);
  struct rd_tree_settings *settings = rd_memory_new(1, sizeof *settings);
  settings->remove_most = UINT64_MAX;
  bool is_decoded =
      object != NULL ? decode_object(object, settings, error) && has_paths(settings, error) : invalid(error, why.text);
  json_decref(object);
  if (is_decoded) return settings;
  rd_tree_settings_destroy(settings);
  return NULL;
}

void rd_tree_settings_destroy(struct rd_tree_settings *settings) {
  if (settings == NULL) return;
  for (size_t i = 0; i < settings->source_count; i++) free(settings->sources[i]);
  for (size_t i = 0; i < settings->link_dest_count; i++) free(settings->link_dests[i]);
  for (size_t i = 0; i < settings->pattern_count; i++) free(settings->patterns[i].text);
  free(settings->sources);
  free(settings->link_dests);
  free(settings->patterns);
  free(settings->target);
  free(settings->list_text);
  free(settings->host);
  free(settings);
}

unsigned rd_tree_threads(const struct rd_tree_settings *settings, bool mostly_wait) {
  if (settings->jobs > 0) return (unsigned)settings->jobs;
  long processors = sysconf(_SC_NPROCESSORS_ONLN);
  if (mostly_wait || processors > THREADS_MAX) return THREADS_MAX;
  return processors < 1 ? 1 : (unsigned)processors;
}

static bool decode_object(json_t *object, struct rd_tree_settings *settings, struct rd_error *error) {
  const char *role, *run;
  json_error_t why;
  if (json_unpack_ex(object, &why, 0, "{s:s,s:s}", "role", &role, "run", &run)) return invalid(error, why.text);
  const json_t *target = json_object_get(object, "target");
  if (target != NULL && (settings->target = path_of(target)) == NULL) return invalid(error, "target is not a path");
  if (!rd_tree_role_named(role, &settings->role)) return invalid(error, "unknown role");
  const char *wrong = decode_options(object, settings);
  if (wrong != NULL) return invalid(error, wrong);
  return decode_part(object, settings, error) && decode_run(run, settings, error) &&
         decode_list(json_object_get(object, "list_text"), settings, error) &&
         decode_key(json_object_get(object, "key"), settings, error) &&
         decode_sources(json_object_get(object, "sources"), settings, error) &&
         decode_patterns(json_object_get(object, "patterns"), settings, error) &&
         decode_link_dests(json_object_get(object, "link_dests"), settings, error);
}

// Returns the name of the field that is wrong, or NULL.
static const char *decode_options(const json_t *object, struct rd_tree_settings *settings) {
#define NUMBER(name, row)                                                                                              \
  if (!get_number(json_object_get(object, #name), RD_##row##_MIN, RD_##row##_MAX, &settings->name)) return #name;
#define FLAG(name, row)                                                                                                \
  if (!get_flag(json_object_get(object, #name), &settings->name)) return #name;
  RD_TREE_OPTIONS(NUMBER, FLAG)
  FLAG(paths, )
  FLAG(alone, )
  int list, plan, report;
  if (!get_word(json_object_get(object, "list"), (const char *const[]){"none", "lines", "nul", NULL}, &list))
    return "list";
  if (!get_word(json_object_get(object, "plan"), (const char *const[]){"none", "text", "json", NULL}, &plan))
    return "plan";
  if (!get_word(json_object_get(object, "report"), (const char *const[]){"events", "quiet", "text", "verbose", NULL},
                &report))
    return "report";
  settings->list = (enum rd_tree_list)list;
  settings->plan = (enum rd_tree_plan)plan;
  settings->report = (enum rd_tree_output)report;
  return NULL;
}

// Leaves *out unchanged if absent.
static bool get_number(const json_t *value, json_int_t least, json_int_t most, uint64_t *out) {
  if (value == NULL) return true;
  json_int_t number = json_integer_value(value);
  *out = (uint64_t)number;
  return json_is_integer(value) && number >= least && number <= most;
}

static bool get_flag(const json_t *value, bool *out) {
  *out = json_is_true(value);
  return value == NULL || json_is_boolean(value);
}

// The first word if absent.
static bool get_word(const json_t *value, const char *const *words, int *out) {
  *out = value == NULL ? 0 : rd_option_word(json_string_value(value), words);
  return *out >= 0;
}

// Of a copy to several targets.
static bool decode_part(json_t *object, struct rd_tree_settings *settings, struct rd_error *error) {
  json_int_t width = 0, rank = 0;
  const char *host = NULL;
  json_error_t why;
  if (json_unpack_ex(object, &why, 0, "{s?I,s?I,s?s}", "width", &width, "rank", &rank, "host", &host))
    return invalid(error, why.text);
  if (width < 0 || width > WIDTH_MAX) return invalid(error, "width is out of range");
  if (rank < 0 || (rank > 0 && rank >= width)) return invalid(error, "rank is out of range");
  settings->width = (unsigned)width;
  settings->rank = (unsigned)rank;
  if (host != NULL) settings->host = rd_memory_copy(host, strlen(host));
  return true;
}

static bool decode_list(const json_t *hex, struct rd_tree_settings *settings, struct rd_error *error) {
  if (hex == NULL) return true;
  settings->list_text = bytes_of(hex, &settings->list_bytes);
  return settings->list_text != NULL || invalid(error, "list_text is not hexadecimal");
}

static bool decode_key(const json_t *hex, struct rd_tree_settings *settings, struct rd_error *error) {
  size_t bytes = 0;
  if (hex == NULL) return true;
  RD_AUTO_FREE char *key = bytes_of(hex, &bytes);
  if (bytes != sizeof settings->key) return invalid(error, "key is out of range");
  memcpy(settings->key, key, bytes);
  return true;
}

static bool decode_sources(const json_t *array, struct rd_tree_settings *settings, struct rd_error *error) {
  if (array == NULL) return true;
  if (!json_is_array(array) || json_array_size(array) > SOURCES_MAX) return invalid(error, "sources is not a list");
  settings->sources = rd_memory_new(json_array_size(array), sizeof *settings->sources);
  for (size_t i = 0; i < json_array_size(array); i++) {
    char *text = path_of(json_array_get(array, i));
    if (text == NULL) return invalid(error, "a source is not a path");
    settings->sources[settings->source_count++] = text;
  }
  return true;
}

static bool decode_link_dests(const json_t *array, struct rd_tree_settings *settings, struct rd_error *error) {
  if (array == NULL) return true;
  if (!json_is_array(array) || json_array_size(array) > RD_SETTINGS_LINK_DESTS_MAX)
    return invalid(error, "link_dests is not a list");
  settings->link_dests = rd_memory_new(json_array_size(array), sizeof *settings->link_dests);
  for (size_t i = 0; i < json_array_size(array); i++) {
    char *text = path_of(json_array_get(array, i));
    if (text == NULL) return invalid(error, "a directory of link_dests is not a path");
    settings->link_dests[settings->link_dest_count++] = text;
  }
  return true;
}

static bool decode_patterns(const json_t *array, struct rd_tree_settings *settings, struct rd_error *error) {
  if (array == NULL) return true;
  if (!json_is_array(array) || json_array_size(array) > PATTERNS_MAX) return invalid(error, "patterns is not a list");
  settings->patterns = rd_memory_new(json_array_size(array), sizeof *settings->patterns);
  for (size_t i = 0; i < json_array_size(array); i++) {
    json_error_t why;
    int is_include;
    const json_t *hex;
    if (json_unpack_ex(json_array_get(array, i), &why, 0, "{s:b,s:o}", "include", &is_include, "pattern", &hex))
      return invalid(error, why.text);
    char *text = text_of(hex);
    if (text == NULL) return invalid(error, "a pattern is not text");
    settings->patterns[settings->pattern_count++] = (struct rd_tree_pattern){is_include, text};
  }
  return true;
}

static bool decode_run(const char *run, struct rd_tree_settings *settings, struct rd_error *error) {
  size_t count = strlen(run);
  if (count < 1 || count >= sizeof settings->run || strspn(run, "0123456789abcdef-") != count)
    return invalid(error, "run is not a name");
  memcpy(settings->run, run, count + 1);
  return true;
}

// Returns NULL if it is not hexadecimal text. A NUL follows the bytes.
static char *bytes_of(const json_t *hex, size_t *bytes) {
  const char *digits = json_string_value(hex);
  if (digits == NULL) return NULL;
  size_t count = strlen(digits);
  char *text = rd_memory_new(count / 2 + 1, 1);
  if (rd_hex_decode(digits, count, (unsigned char *)text, count / 2, bytes)) return text;
  free(text);
  return NULL;
}

// NULL: it is no hexadecimal text, or has a NUL.
static char *text_of(const json_t *hex) {
  size_t bytes;
  char *text = bytes_of(hex, &bytes);
  if (text == NULL || memchr(text, '\0', bytes) == NULL) return text;
  free(text);
  return NULL;
}

// NULL: it is no text, or an empty one.
static char *path_of(const json_t *hex) {
  char *text = text_of(hex);
  if (text != NULL && *text != '\0') return text;
  free(text);
  return NULL;
}

static bool has_paths(const struct rd_tree_settings *settings, struct rd_error *error) {
  const struct rd_tree_role_row *row = &rd_tree_roles[settings->role];
  if (settings->role == RD_TREE_UNITE && settings->width == 0) return invalid(error, "there are no targets");
  if (row->has_target && settings->target == NULL) return invalid(error, "there is no target");
  if (row->sources == RD_SOURCES_PATHS && settings->source_count == 0) return invalid(error, "there is no source");
  return settings->list == RD_LIST_NONE || settings->source_count == 1 ||
         invalid(error, "a list needs exactly one source");
}

static bool invalid(struct rd_error *error, const char *reason) {
  rd_error_set(error, RD_CODE_INTERNAL, "rdtree got invalid settings: %.256s", reason);
  return false;
}
