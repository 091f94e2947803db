// SPDX-License-Identifier: Apache-2.0
#include "pattern/named.h"

#include "base/memory.h"
#include "entry/metadata.h"
#include "pattern/pattern.h"

#include <stdlib.h>
#include <string.h>

struct rd_named {
  const struct rd_tree_settings *settings;
  struct rd_patterns *patterns;
  struct rd_folders *folders;
  bool has_source;
  uint32_t source;
  uint64_t device; // the file system of the source, where others are left out
};

static bool check_entry(struct rd_named *named, const struct rd_record *record, struct rd_error *error);
static bool check_source(struct rd_named *named, const struct rd_record *record, struct rd_error *error);
static bool is_on_its_file_system(struct rd_named *named);
static bool refuse(struct rd_error *error, const char *reason);

struct rd_named *rd_named_create(const struct rd_tree_settings *settings, struct rd_error *error) {
  struct rd_patterns *patterns = rd_patterns_create(settings, error);
  if (patterns == NULL) return NULL;
  struct rd_named *named = rd_memory_new(1, sizeof *named);
  named->settings = settings;
  named->patterns = patterns;
  named->folders = rd_folders_create(false);
  return named;
}

void rd_named_destroy(struct rd_named *named) {
  if (named == NULL) return;
  rd_patterns_destroy(named->patterns);
  rd_folders_destroy(named->folders);
  free(named);
}

bool rd_named_check(struct rd_named *named, const struct rd_record *record, struct rd_error *error) {
  if (rd_record_is_entry(record->type) && !check_entry(named, record, error)) return false;
  if (record->type == RD_RECORD_ENTER) rd_folders_enter(named->folders, record->entry.name);
  if (record->type == RD_RECORD_LEAVE) rd_folders_leave(named->folders);
  return true;
}

bool rd_named_begin(struct rd_named *named, uint32_t source, struct rd_error *error) {
  if (source >= named->settings->source_count) return refuse(error, "a source that does not exist");
  if (named->has_source && source == named->source) return true;
  rd_folders_begin(named->folders, named->settings->sources[source]);
  named->has_source = true;
  named->source = source;
  struct rd_bytes own = rd_folders_source_name(named->folders);
  struct statx status;
  const char *entry = own.count == 0 ? "." : (const char *)own.at;
  if (named->settings->one_file_system && rd_status_of_name(rd_folders_fd(named->folders), entry, &status))
    named->device = rd_device_of(&status);
  return true;
}

struct rd_folders *rd_named_folders(struct rd_named *named) {
  return named->folders;
}

static bool check_entry(struct rd_named *named, const struct rd_record *record, struct rd_error *error) {
  const struct rd_tree_settings *settings = named->settings;
  bool is_folder = record->type == RD_RECORD_ENTER;
  if (is_folder && !settings->recursive) return refuse(error, "a directory, but directories are not copied");
  if (is_folder && rd_folders_depth(named->folders) == RD_DEPTH_MAX) return refuse(error, "a path that is too deep");
  if (!named->has_source || rd_folders_depth(named->folders) == 0) return check_source(named, record, error);
  if (record->type == RD_RECORD_FILE && settings->one_file_system && !is_on_its_file_system(named))
    return refuse(error, "a path on another file system");
  if (settings->pattern_count == 0) return true;
  struct rd_bytes path = rd_folders_below(named->folders, record->entry.name);
  return !rd_patterns_exclude(named->patterns, path, is_folder) || refuse(error, "a path that is excluded");
}

static bool check_source(struct rd_named *named, const struct rd_record *record, struct rd_error *error) {
  if (!rd_named_begin(named, record->entry.source, error)) return false;
  struct rd_bytes name = record->entry.name, own = rd_folders_source_name(named->folders);
  return (name.count == own.count && memcmp(name.at, own.at, own.count) == 0) ||
         refuse(error, "a name that differs from that of its source");
}

// One that cannot be opened has no contents to give.
static bool is_on_its_file_system(struct rd_named *named) {
  struct statx status;
  int fd = rd_folders_fd(named->folders);
  return fd < 0 || !rd_status_of_fd(fd, &status) || rd_device_of(&status) == named->device;
}

static bool refuse(struct rd_error *error, const char *reason) {
  rd_error_set(error, RD_CODE_DATA_DAMAGED, "the stream of the tree is damaged: the target names %s", reason);
  return false;
}
