// SPDX-License-Identifier: Apache-2.0
#include "pattern/request.h"

#include "base/memory.h"
#include "entry/partial_name.h"
#include "entry/source_path.h"
#include "entry/target_path.h"
#include "entry/xattrs.h"
#include "pattern/listed.h"
#include "pattern/pattern.h"

#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#define SHOWN_BYTES 256u // of the end of a path, in a message

struct rd_request {
  const struct rd_tree_settings *settings;
  struct rd_patterns *patterns;
  struct rd_listed *listed; // NULL: no list, or an unknown one
  const char **names;       // of the sources that have one, sorted
  size_t name_count;
  bool has_contents;   // one of the sources is the contents of a directory
  char *home_name;     // of the source `~`, as its entry has it; NULL: there was none
  unsigned char *path; // of the present directory, from the target
  size_t path_bytes, path_room;
  size_t source_bytes; // of the path: the name of the source
  unsigned depth;
  bool has_place, is_as, may_be_as; // `may_be_as`: a single file would become what the target names
  bool has_entries, has_entered_contents;
  bool *is_offered; // of each source: one of its entries came
  size_t offered;   // number of those sources
};

static void note_sources(struct rd_request *request);
static int by_text(const void *one, const void *other);
static const char *fault_of(struct rd_request *request, const struct rd_record *record, int directory_fd);
static const char *fault_of_place(struct rd_request *request, enum rd_target_mode place);
static const char *fault_of_entry(struct rd_request *request, const struct rd_record *record);
static const char *fault_at_top(const struct rd_request *request, const struct rd_record *record);
static const char *fault_of_end(const struct rd_request *request, const struct rd_record *record);
static bool is_listed(struct rd_request *request, struct rd_bytes name, bool is_directory);
static bool is_source(const struct rd_request *request, const struct rd_record *record);
static bool is_home(const struct rd_request *request, const struct rd_record *record);
static bool may_be_linked(const struct rd_request *request, struct rd_bytes path);
static bool is_named(const struct rd_request *request, struct rd_bytes name);
static bool is_kept_out(const struct rd_request *request, struct rd_bytes path);
static const char *fault_of_removal(struct rd_request *request, struct rd_bytes name, int directory_fd);
static bool is_excluded(struct rd_request *request, struct rd_bytes name, bool is_directory);
static void follow(struct rd_request *request, const struct rd_record *record);
static void note_offer(struct rd_request *request, uint32_t source);
static void note_home(struct rd_request *request, const struct rd_entry *entry);
static void enter(struct rd_request *request, struct rd_bytes name);
static void leave(struct rd_request *request);
static size_t append(struct rd_request *request, struct rd_bytes name);
static bool is_same(struct rd_bytes name, const char *text);
static bool refuse(struct rd_request *request, const struct rd_record *record, const char *fault,
                   struct rd_error *error);
static const char *noun_of(enum rd_record_type type);
static struct rd_bytes shown(struct rd_request *request, const struct rd_record *record);
static struct rd_bytes hidden_source(const struct rd_request *request);

struct rd_request *rd_request_create(const struct rd_tree_settings *settings, struct rd_error *error) {
  struct rd_patterns *patterns = rd_patterns_create(settings, error);
  if (patterns == NULL) return NULL;
  struct rd_request *request = rd_memory_new(1, sizeof *request);
  request->settings = settings;
  request->patterns = patterns;
  request->listed = rd_listed_create(settings);
  note_sources(request);
  return request;
}

void rd_request_destroy(struct rd_request *request) {
  if (request == NULL) return;
  rd_patterns_destroy(request->patterns);
  rd_listed_destroy(request->listed);
  free(request->names);
  free(request->is_offered);
  free(request->home_name);
  free(request->path);
  free(request);
}

bool rd_request_check(struct rd_request *request, const struct rd_record *record, int directory_fd,
                      struct rd_error *error) {
  const char *fault = fault_of(request, record, directory_fd);
  if (fault != NULL) return refuse(request, record, fault, error);
  follow(request, record);
  return true;
}

static void note_sources(struct rd_request *request) {
  const struct rd_tree_settings *settings = request->settings;
  request->names = rd_memory_new(settings->source_count + 1, sizeof *request->names);
  request->is_offered = rd_memory_new(settings->source_count + 1, sizeof *request->is_offered);
  for (size_t i = 0; i < settings->source_count; i++) {
    const char *name = rd_source_path_name(settings->sources[i]);
    if (name == NULL) continue;
    if (*name == '\0')
      request->has_contents = true;
    else
      request->names[request->name_count++] = name;
  }
  if (request->name_count > 1) qsort(request->names, request->name_count, sizeof *request->names, by_text);
}

static int by_text(const void *one, const void *other) {
  return strcmp(*(const char *const *)one, *(const char *const *)other);
}

// NULL: the user asked for it.
static const char *fault_of(struct rd_request *request, const struct rd_record *record, int directory_fd) {
  const struct rd_tree_settings *settings = request->settings;
  switch (record->type) {
  case RD_RECORD_OWNER:
    return settings->archive ? NULL : "without -a";
  case RD_RECORD_XATTR:
    // rdsend has options of its own, and write sets only the attributes that rdrecv was asked for.
    return settings->alone || rd_xattr_is_asked_for(settings, record->xattr.name) ? NULL : "without -A or -X for it";
  case RD_RECORD_PLACE:
    return settings->target == NULL ? NULL : fault_of_place(request, record->place);
  case RD_RECORD_REMOVE:
    return settings->target == NULL ? NULL : fault_of_removal(request, record->entry.name, directory_fd);
  case RD_RECORD_END:
    return settings->role == RD_TREE_COMPARE ? fault_of_end(request, record) : NULL;
  default:
    return rd_record_is_entry(record->type) ? fault_of_entry(request, record) : NULL;
  }
}

static const char *fault_of_place(struct rd_request *request, enum rd_target_mode place) {
  const struct rd_tree_settings *settings = request->settings;
  if (request->has_place || request->has_entries) return "too late";
  request->may_be_as = settings->source_count <= 1 && rd_target_place(settings->target, true) == RD_PLACE_AS;
  return place == RD_PLACE_INTO || request->may_be_as ? NULL : "it is a directory";
}

static const char *fault_of_entry(struct rd_request *request, const struct rd_record *record) {
  const struct rd_tree_settings *settings = request->settings;
  bool is_directory = record->type == RD_RECORD_ENTER;
  if (is_directory && !settings->recursive) return "without -r";
  if (is_directory && request->depth == RD_DEPTH_MAX) return "too deep";
  bool needs_archive = record->type == RD_RECORD_LINK ||
                       (record->type == RD_RECORD_SPECIAL && settings->role != RD_TREE_COMPARE); // which skips it
  if (needs_archive && !settings->archive) return "without -a";
  bool is_linked = record->entry.want == RD_WANT_LINK && settings->target != NULL;
  if (is_linked && record->entry.link_dest >= settings->link_dest_count) return "without --link-dest";
  const char *fault = NULL;
  if (request->depth == 0)
    fault = fault_at_top(request, record);
  else if (is_excluded(request, record->entry.name, is_directory))
    fault = "excluded";
  else if (!is_listed(request, record->entry.name, is_directory))
    fault = "not in the list";
  if (fault != NULL || record->type != RD_RECORD_LINK) return fault;
  return may_be_linked(request, record->entry.target) ? NULL : "a link to what was not asked for";
}

static const char *fault_at_top(const struct rd_request *request, const struct rd_record *record) {
  const struct rd_tree_settings *settings = request->settings;
  bool is_directory = record->type == RD_RECORD_ENTER;
  bool needs_place = settings->role == RD_TREE_WRITE || settings->role == RD_TREE_COPY;
  if (settings->source_count > 0 && !is_source(request, record)) return "not a source";
  if (request->is_as && (is_directory || record->type == RD_RECORD_LINK || request->has_entries))
    return "the target is one file";
  if (settings->source_count > 0 && needs_place && !request->has_place) return "the target is not yet known";
  bool is_only_file = settings->source_count == 1 && !is_directory;
  return is_only_file && request->may_be_as && !request->is_as ? "the target is not a directory" : NULL;
}

// `name` in the present directory. The only source is the contents of a directory, so that the path from the target is
// that of the list.
static bool is_listed(struct rd_request *request, struct rd_bytes name, bool is_directory) {
  if (request->listed == NULL) return true;
  size_t bytes = append(request, name);
  return rd_listed_covers(request->listed, (struct rd_bytes){request->path, bytes}, is_directory);
}

// Of scan: a source that neither has an entry nor counts as a failure was hidden.
static const char *fault_of_end(const struct rd_request *request, const struct rd_record *record) {
  size_t missing = request->settings->source_count - request->offered;
  return missing > record->end.failures ? "no reason was given" : NULL;
}

static bool is_source(const struct rd_request *request, const struct rd_record *record) {
  const struct rd_tree_settings *settings = request->settings;
  const struct rd_entry *entry = &record->entry;
  if (entry->source >= settings->source_count) return false;
  const char *name = rd_source_path_name(settings->sources[entry->source]);
  return name == NULL ? is_home(request, record) : is_same(entry->name, name);
}

// Only the source's host knows the name of `~`. It may choose one, but not a hidden one such as .ssh.
static bool is_home(const struct rd_request *request, const struct rd_record *record) {
  struct rd_bytes name = record->entry.name;
  if (record->type != RD_RECORD_ENTER && record->type != RD_RECORD_SYMLINK) return false;
  if (request->home_name != NULL) return is_same(name, request->home_name);
  return name.count > 0 && name.at[0] != '.';
}

// A path from the target, whose file came before or is there already.
static bool may_be_linked(const struct rd_request *request, struct rd_bytes path) {
  if (request->settings->source_count == 0) return true;
  if (request->listed != NULL && !rd_listed_covers(request->listed, path, false)) return false;
  if (request->has_contents && !is_kept_out(request, path)) return true;
  const unsigned char *slash = memchr(path.at, '/', path.count);
  struct rd_bytes first = {path.at, slash == NULL ? path.count : (size_t)(slash - path.at)}, rest = {0};
  if (slash != NULL) rest = (struct rd_bytes){slash + 1, path.count - first.count - 1};
  return is_named(request, first) && !is_kept_out(request, rest);
}

static bool is_named(const struct rd_request *request, struct rd_bytes name) {
  char text[RD_NAME_MAX_BYTES + 1];
  const char *key = text;
  memcpy(text, name.at, name.count);
  text[name.count] = '\0';
  if (request->home_name != NULL && strcmp(request->home_name, text) == 0) return true;
  return request->name_count > 0 &&
         bsearch(&key, request->names, request->name_count, sizeof *request->names, by_text) != NULL;
}

// A path below a source: excluded, or in a directory that is.
static bool is_kept_out(const struct rd_request *request, struct rd_bytes path) {
  if (request->settings->pattern_count == 0) return false;
  for (size_t i = 0; i < path.count; i++)
    if (path.at[i] == '/' && rd_patterns_exclude(request->patterns, (struct rd_bytes){path.at, i}, true)) return true;
  return rd_patterns_exclude(request->patterns, path, false);
}

static const char *fault_of_removal(struct rd_request *request, struct rd_bytes name, int directory_fd) {
  struct stat status;
  char text[RD_NAME_MAX_BYTES + 1];
  if (!request->settings->remove) return "without --delete";
  if (request->depth == 0 && !request->has_entered_contents) return "not in a copied directory";
  if (rd_name_is_of_copy(name, request->path_bytes == 0)) return "a file of a running copy";
  memcpy(text, name.at, name.count);
  text[name.count] = '\0';
  bool is_directory =
      directory_fd >= 0 && fstatat(directory_fd, text, &status, AT_SYMLINK_NOFOLLOW) == 0 && S_ISDIR(status.st_mode);
  return is_excluded(request, name, is_directory) ? "excluded" : NULL;
}

// `name` in the present directory, of which patterns have the path below the source.
static bool is_excluded(struct rd_request *request, struct rd_bytes name, bool is_directory) {
  if (request->settings->pattern_count == 0) return false;
  size_t bytes = append(request, name), skipped = request->source_bytes;
  skipped += skipped > 0;
  return rd_patterns_exclude(request->patterns, (struct rd_bytes){request->path + skipped, bytes - skipped},
                             is_directory);
}

static void follow(struct rd_request *request, const struct rd_record *record) {
  if (record->type == RD_RECORD_LEAVE) leave(request);
  if (record->type == RD_RECORD_PLACE && request->settings->target != NULL) {
    request->has_place = true;
    request->is_as = record->place == RD_PLACE_AS;
  }
  if (!rd_record_is_entry(record->type)) return;
  request->has_entries = true;
  if (request->depth == 0) note_offer(request, record->entry.source);
  if (request->depth == 0) note_home(request, &record->entry);
  if (record->type == RD_RECORD_ENTER) enter(request, record->entry.name);
}

static void note_offer(struct rd_request *request, uint32_t source) {
  if (source >= request->settings->source_count || request->is_offered[source]) return;
  request->is_offered[source] = true;
  request->offered++;
}

static void note_home(struct rd_request *request, const struct rd_entry *entry) {
  const struct rd_tree_settings *settings = request->settings;
  if (request->home_name != NULL || entry->source >= settings->source_count) return;
  if (rd_source_path_name(settings->sources[entry->source]) != NULL) return;
  request->home_name = rd_memory_copy((const char *)entry->name.at, entry->name.count);
}

static void enter(struct rd_request *request, struct rd_bytes name) {
  if (request->depth == 0) {
    request->source_bytes = name.count;
    request->has_entered_contents |= name.count == 0;
  }
  request->path_bytes = append(request, name);
  request->depth++;
}

static void leave(struct rd_request *request) {
  if (request->depth > 0) request->depth--;
  const unsigned char *slash = request->path_bytes == 0 ? NULL : memrchr(request->path, '/', request->path_bytes);
  request->path_bytes = slash == NULL ? 0 : (size_t)(slash - request->path);
  if (request->depth == 0) request->source_bytes = 0;
}

// After the path of the present directory, which stays as it is. Returns the length of both.
static size_t append(struct rd_request *request, struct rd_bytes name) {
  size_t bytes = request->path_bytes;
  if (name.count == 0) return bytes;
  if (request->path_room < bytes + 1 + name.count) {
    request->path_room = 2 * (bytes + 1 + name.count);
    request->path = rd_memory_resize(request->path, request->path_room, 1);
  }
  if (bytes > 0) request->path[bytes++] = '/';
  memcpy(request->path + bytes, name.at, name.count);
  return bytes + name.count;
}

static bool is_same(struct rd_bytes name, const char *text) {
  return name.count == strlen(text) && memcmp(name.at, text, name.count) == 0;
}

static bool refuse(struct rd_request *request, const struct rd_record *record, const char *fault,
                   struct rd_error *error) {
  struct rd_bytes text = shown(request, record);
  size_t cut = text.count > SHOWN_BYTES ? text.count - SHOWN_BYTES : 0;
  const char *relation = record->type == RD_RECORD_END ? "was asked for" : "was not asked for";
  rd_error_set(error, RD_CODE_NOT_REQUESTED, "%s%s that %s: \"%s%.*s\" (%s)",
               request->settings->alone ? "received " : "", noun_of(record->type), relation, cut > 0 ? "…" : "",
               (int)(text.count - cut), text.count == 0 ? "" : (const char *)text.at + cut, fault);
  return false;
}

static const char *noun_of(enum rd_record_type type) {
  switch (type) {
  case RD_RECORD_OWNER:
    return "an owner";
  case RD_RECORD_XATTR:
    return "an attribute";
  case RD_RECORD_PLACE:
    return "a target";
  case RD_RECORD_END:
    return "nothing of a source";
  case RD_RECORD_REMOVE:
    return "a removal";
  case RD_RECORD_ENTER:
    return "a directory";
  case RD_RECORD_FILE:
    return "a file";
  case RD_RECORD_SYMLINK:
    return "a symbolic link";
  case RD_RECORD_SPECIAL:
    return "a special file";
  default:
    return "a hard link";
  }
}

static struct rd_bytes shown(struct rd_request *request, const struct rd_record *record) {
  if (record->type == RD_RECORD_OWNER) return record->owner.name;
  if (record->type == RD_RECORD_XATTR) return record->xattr.name;
  if (record->type == RD_RECORD_PLACE) return rd_bytes_of(request->settings->target);
  if (record->type == RD_RECORD_END) return hidden_source(request);
  size_t bytes = append(request, record->entry.name);
  return (struct rd_bytes){request->path, bytes};
}

// The first one.
static struct rd_bytes hidden_source(const struct rd_request *request) {
  size_t source = 0;
  while (request->is_offered[source]) source++;
  const char *text = request->settings->sources[source], *name = rd_source_path_name(text);
  return rd_bytes_of(name == NULL || *name == '\0' ? text : name);
}
