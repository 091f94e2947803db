// SPDX-License-Identifier: Apache-2.0
#include "setup/settings.h"

#include "base/hex.h"
#include "base/memory.h"

#include <jansson.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define SOURCES_MAX (1u << 20) // a request has at most 16 MiB
#define PATTERNS_MAX 65536u
#define JOBS_MAX 64
#define WIDTH_MAX 10000 // as many hosts as a list has
#define THREADS_MAX 8   // that are not asked for

static bool decode_object(json_t *object, struct rd_tree_settings *settings, struct rd_error *error);
static bool decode_part(json_t *object, struct rd_tree_settings *settings, struct rd_error *error);
static bool decode_role(const char *name, struct rd_tree_settings *settings, struct rd_error *error);
static bool decode_flags(json_t *object, struct rd_tree_settings *settings, struct rd_error *error);
static bool decode_sources(const json_t *array, struct rd_tree_settings *settings, struct rd_error *error);
static bool decode_patterns(const json_t *array, struct rd_tree_settings *settings, struct rd_error *error);
static bool decode_run(const char *run, struct rd_tree_settings *settings, struct rd_error *error);
static bool index_of(const char *name, const char *const *names, size_t count, int *index);
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
  for (size_t i = 0; i < settings->pattern_count; i++) free(settings->patterns[i].text);
  free(settings->sources);
  free(settings->patterns);
  free(settings->target);
  free(settings->host);
  free(settings);
}

unsigned rd_tree_threads(const struct rd_tree_settings *settings, bool mostly_wait) {
  if (settings->jobs > 0) return settings->jobs;
  long processors = sysconf(_SC_NPROCESSORS_ONLN);
  if (mostly_wait || processors > THREADS_MAX) return THREADS_MAX;
  return processors < 1 ? 1 : (unsigned)processors;
}

static bool decode_object(json_t *object, struct rd_tree_settings *settings, struct rd_error *error) {
  const char *role, *run;
  json_t *sources = NULL, *patterns = NULL;
  const json_t *target = NULL;
  json_int_t jobs = 0, remove_most = 0;
  json_error_t why;
  if (json_unpack_ex(object, &why, 0, "{s:s,s:s,s?o,s?o,s?o,s?I,s?I}", "role", &role, "run", &run, "sources", &sources,
                     "patterns", &patterns, "target", &target, "jobs", &jobs, "remove_most", &remove_most))
    return invalid(error, why.text);
  if (jobs < 0 || jobs > JOBS_MAX) return invalid(error, "jobs is out of range");
  settings->jobs = (unsigned)jobs;
  if (remove_most < 0) return invalid(error, "remove_most is out of range");
  if (json_object_get(object, "remove_most") != NULL) settings->remove_most = (uint64_t)remove_most;
  if (target != NULL && (settings->target = path_of(target)) == NULL) return invalid(error, "target is not a path");
  return decode_part(object, settings, error) && decode_role(role, settings, error) &&
         decode_run(run, settings, error) && decode_flags(object, settings, error) &&
         decode_sources(sources, settings, error) && decode_patterns(patterns, settings, error);
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

static bool decode_role(const char *name, struct rd_tree_settings *settings, struct rd_error *error) {
  static const char *const names[] = {"scan", "compare", "read", "write", "copy", "clean", "send", "unite"};
  int role;
  if (!index_of(name, names, sizeof names / sizeof *names, &role)) return invalid(error, "unknown role");
  settings->role = (enum rd_tree_role)role;
  return true;
}

static bool decode_flags(json_t *object, struct rd_tree_settings *settings, struct rd_error *error) {
  static const char *const lists[] = {"none", "lines", "nul"}, *const plans[] = {"none", "text", "json"};
  static const char *const reports[] = {"events", "quiet", "text", "verbose"};
  const struct {
    const char *name;
    bool *value;
  } flags[] = {
      {"recursive", &settings->recursive}, {"archive", &settings->archive},
      {"acls", &settings->acls},           {"xattrs", &settings->xattrs},
      {"remove", &settings->remove},       {"one_file_system", &settings->one_file_system},
      {"checksum", &settings->checksum},   {"make_parents", &settings->make_parents},
      {"partial", &settings->partial},     {"in_place", &settings->in_place},
      {"verify", &settings->verify},       {"clean", &settings->clean},
      {"paths", &settings->paths},         {"alone", &settings->alone},
  };
  for (size_t i = 0; i < sizeof flags / sizeof *flags; i++) {
    const json_t *value = json_object_get(object, flags[i].name);
    if (value != NULL && !json_is_boolean(value)) return invalid(error, flags[i].name);
    *flags[i].value = json_is_true(value);
  }
  const json_t *list = json_object_get(object, "list"), *plan = json_object_get(object, "plan");
  const json_t *report = json_object_get(object, "report");
  int index = 0;
  if (list != NULL && !index_of(json_string_value(list), lists, 3, &index)) return invalid(error, "unknown list");
  settings->list = (enum rd_tree_list)index;
  index = 0;
  if (plan != NULL && !index_of(json_string_value(plan), plans, 3, &index)) return invalid(error, "unknown plan");
  settings->plan = (enum rd_tree_plan)index;
  index = 0;
  if (report != NULL && !index_of(json_string_value(report), reports, 4, &index))
    return invalid(error, "unknown report");
  settings->report = (enum rd_tree_output)index;
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

static bool index_of(const char *name, const char *const *names, size_t count, int *index) {
  for (size_t i = 0; name != NULL && i < count; i++) {
    if (strcmp(name, names[i]) != 0) continue;
    *index = (int)i;
    return true;
  }
  return false;
}

// NULL: it is no hexadecimal text, or has a NUL.
static char *text_of(const json_t *hex) {
  const char *digits = json_string_value(hex);
  if (digits == NULL) return NULL;
  size_t count = strlen(digits), bytes;
  char *text = rd_memory_new(count / 2 + 1, 1);
  if (rd_hex_decode(digits, count, (unsigned char *)text, count / 2, &bytes) && memchr(text, '\0', bytes) == NULL)
    return text;
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
  enum rd_tree_role role = settings->role;
  bool needs_target = role == RD_TREE_COMPARE || role == RD_TREE_WRITE || role == RD_TREE_COPY;
  bool needs_source = role != RD_TREE_COMPARE && role != RD_TREE_WRITE && role != RD_TREE_UNITE;
  if (role == RD_TREE_UNITE && settings->width == 0) return invalid(error, "there are no targets");
  if (needs_target && settings->target == NULL) return invalid(error, "there is no target");
  if (needs_source && settings->source_count == 0) return invalid(error, "there is no source");
  return settings->list == RD_LIST_NONE || settings->source_count == 1 ||
         invalid(error, "a list needs exactly one source");
}

static bool invalid(struct rd_error *error, const char *reason) {
  rd_error_set(error, RD_CODE_INTERNAL, "rdtree got invalid settings: %.256s", reason);
  return false;
}
