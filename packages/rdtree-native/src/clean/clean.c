// SPDX-License-Identifier: Apache-2.0
#include "clean/clean.h"

#include "base/memory.h"
#include "entry/folders.h"
#include "entry/metadata.h"
#include "report/events.h"
#include "stream/stream_reader.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

struct cleaning {
  const struct rd_tree_settings *settings;
  struct rd_folders *folders;
  bool has_source;
  uint32_t source;
  struct rd_tree_totals totals;
};

static bool take(struct cleaning *cleaning, const struct rd_record *record, struct rd_error *error);
static void go_to(struct cleaning *cleaning, uint32_t source, struct rd_bytes *path);
static void remove_entry(struct cleaning *cleaning, struct rd_bytes name, const struct rd_record *record);
static bool is_unchanged(const struct statx *status, const struct rd_record *record);
static void failed(struct cleaning *cleaning, struct rd_bytes name, int number, const char *reason);

bool rd_tree_clean(const struct rd_tree_settings *settings, int in_fd, int out_fd, struct rd_error *error) {
  (void)out_fd;
  struct cleaning cleaning = {.settings = settings, .folders = rd_folders_create(false)};
  struct rd_stream_reader *reader = rd_stream_reader_create(in_fd, RD_STREAM_RESULTS, NULL);
  struct rd_record record;
  bool is_right;
  do is_right = rd_stream_next(reader, &record, error) && take(&cleaning, &record, error);
  while (is_right && record.type != RD_RECORD_END);
  if (is_right) rd_events_progress(&cleaning.totals, NULL, true);
  rd_stream_reader_destroy(reader);
  rd_folders_destroy(cleaning.folders);
  return is_right;
}

static bool take(struct cleaning *cleaning, const struct rd_record *record, struct rd_error *error) {
  if (record->type != RD_RECORD_DONE) return true;
  if (record->done.source >= cleaning->settings->source_count) {
    rd_error_set(error, RD_CODE_DATA_DAMAGED, "the stream of the tree is damaged: a source that there is not");
    return false;
  }
  if (S_ISDIR(record->done.metadata.mode)) return true;
  struct rd_bytes name = record->done.path;
  go_to(cleaning, record->done.source, &name);
  if (name.count > 0) remove_entry(cleaning, name, record);
  return true;
}

// Enters the directory that the path is in, and leaves its last name in *path: of the source itself that of the source.
static void go_to(struct cleaning *cleaning, uint32_t source, struct rd_bytes *path) {
  struct rd_folders *folders = cleaning->folders;
  if (!cleaning->has_source || cleaning->source != source || path->count == 0)
    rd_folders_begin(folders, cleaning->settings->sources[source]);
  cleaning->has_source = true;
  cleaning->source = source;
  if (path->count == 0) {
    *path = rd_folders_source_name(folders);
    return;
  }
  if (rd_folders_depth(folders) == 0) rd_folders_enter(folders, rd_folders_source_name(folders));
  struct rd_bytes below;
  for (;;) {
    below = rd_folders_below(folders, (struct rd_bytes){0});
    if (below.count == 0) break;
    if (below.count < path->count && memcmp(below.at, path->at, below.count) == 0 && path->at[below.count] == '/')
      break;
    rd_folders_leave(folders);
  }
  size_t skipped = below.count == 0 ? 0 : below.count + 1;
  struct rd_bytes rest = {path->at + skipped, path->count - skipped};
  for (const unsigned char *slash; (slash = memchr(rest.at, '/', rest.count)) != NULL;) {
    struct rd_bytes name = {rest.at, (size_t)(slash - rest.at)};
    rd_folders_enter(folders, name);
    rest = (struct rd_bytes){slash + 1, rest.count - name.count - 1};
  }
  *path = rest;
}

static void remove_entry(struct cleaning *cleaning, struct rd_bytes name, const struct rd_record *record) {
  struct statx status;
  char text[RD_NAME_MAX_BYTES + 1];
  memcpy(text, name.at, name.count);
  text[name.count] = '\0';
  int fd = rd_folders_fd(cleaning->folders);
  if (fd < 0 || !rd_status_of_name(fd, text, &status))
    failed(cleaning, name, errno, "cannot be removed");
  else if (!is_unchanged(&status, record))
    failed(cleaning, name, 0, "changed since it was copied: not removed");
  else if (unlinkat(fd, text, 0) < 0)
    failed(cleaning, name, errno, "cannot be removed");
  else {
    cleaning->totals.removed++;
    if (cleaning->settings->paths)
      rd_events_path(RD_ACTION_REMOVED, rd_folders_shown(cleaning->folders, name), status.stx_size);
  }
  rd_events_progress(&cleaning->totals, rd_folders_shown(cleaning->folders, name), false);
}

static bool is_unchanged(const struct statx *status, const struct rd_record *record) {
  struct rd_metadata now = rd_metadata_of(status);
  const struct rd_metadata *then = &record->done.metadata;
  return (now.mode & S_IFMT) == (then->mode & S_IFMT) && now.mtime_s == then->mtime_s &&
         now.mtime_ns == then->mtime_ns && (!S_ISREG(now.mode) || status->stx_size == record->done.size);
}

static void failed(struct cleaning *cleaning, struct rd_bytes name, int number, const char *reason) {
  char line[256];
  snprintf(line, sizeof line, "%s%s%s", reason, number == 0 ? "" : ": ", number == 0 ? "" : strerror(number));
  cleaning->totals.failed++;
  rd_events_failed(rd_folders_shown(cleaning->folders, name), number, line);
}
