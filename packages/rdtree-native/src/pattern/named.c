// SPDX-License-Identifier: Apache-2.0
#include "pattern/named.h"

#include "base/memory.h"
#include "entry/metadata.h"
#include "pattern/request.h"

#include <stdlib.h>
#include <string.h>

struct rd_named {
  const struct rd_tree_settings *settings;
  struct rd_request *request;
  struct rd_source_dirs *directories;
  bool has_source;
  uint32_t source;
  uint64_t device; // the file system of the source, if others are left out
};

static bool check_entry(struct rd_named *named, const struct rd_record *record, struct rd_error *error);
static bool check_source(struct rd_named *named, const struct rd_record *record, struct rd_error *error);
static bool is_on_its_file_system(struct rd_named *named);
static bool refuse(struct rd_error *error, const char *reason);

struct rd_named *rd_named_create(const struct rd_tree_settings *settings, struct rd_error *error) {
  struct rd_request *request = rd_request_create(settings, error);
  if (request == NULL) return NULL;
  struct rd_named *named = rd_memory_new(1, sizeof *named);
  named->settings = settings;
  named->request = request;
  named->directories = rd_source_dirs_create(false);
  return named;
}

void rd_named_destroy(struct rd_named *named) {
  if (named == NULL) return;
  rd_request_destroy(named->request);
  rd_source_dirs_destroy(named->directories);
  free(named);
}

bool rd_named_check(struct rd_named *named, const struct rd_record *record, struct rd_error *error) {
  if (!rd_request_check(named->request, record, -1, error)) return false;
  if (rd_record_is_entry(record->type) && !check_entry(named, record, error)) return false;
  if (record->type == RD_RECORD_ENTER) rd_source_dirs_enter(named->directories, record->entry.name);
  if (record->type == RD_RECORD_LEAVE) rd_source_dirs_leave(named->directories);
  return true;
}

bool rd_named_begin(struct rd_named *named, uint32_t source, struct rd_error *error) {
  if (source >= named->settings->source_count) return refuse(error, "a source that was not asked for");
  if (named->has_source && source == named->source) return true;
  rd_source_dirs_begin(named->directories, named->settings->sources[source]);
  named->has_source = true;
  named->source = source;
  struct rd_bytes own = rd_source_dirs_source_name(named->directories);
  struct statx status;
  const char *entry = own.count == 0 ? "." : (const char *)own.at;
  if (named->settings->one_file_system && rd_status_of_name(rd_source_dirs_fd(named->directories), entry, &status))
    named->device = rd_device_of(&status);
  return true;
}

struct rd_source_dirs *rd_named_directories(struct rd_named *named) {
  return named->directories;
}

static bool check_entry(struct rd_named *named, const struct rd_record *record, struct rd_error *error) {
  const struct rd_tree_settings *settings = named->settings;
  if (!named->has_source || rd_source_dirs_depth(named->directories) == 0) return check_source(named, record, error);
  if (record->type == RD_RECORD_FILE && settings->one_file_system && !is_on_its_file_system(named))
    return refuse(error, "a file on another file system that was not asked for (-x)");
  return true;
}

static bool check_source(struct rd_named *named, const struct rd_record *record, struct rd_error *error) {
  if (!rd_named_begin(named, record->entry.source, error)) return false;
  struct rd_bytes name = record->entry.name, own = rd_source_dirs_source_name(named->directories);
  return (name.count == own.count && memcmp(name.at, own.at, own.count) == 0) ||
         refuse(error, "a name of a source that was not asked for");
}

// A directory that cannot be opened has no contents to send.
static bool is_on_its_file_system(struct rd_named *named) {
  struct statx status;
  int fd = rd_source_dirs_fd(named->directories);
  return fd < 0 || !rd_status_of_fd(fd, &status) || rd_device_of(&status) == named->device;
}

static bool refuse(struct rd_error *error, const char *reason) {
  rd_error_set(error, RD_CODE_NOT_REQUESTED, "%s", reason);
  return false;
}
