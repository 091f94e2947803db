// SPDX-License-Identifier: Apache-2.0
#include "clean/clean.h"

#include "entry/metadata.h"
#include "pattern/named.h"
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
  struct rd_named *named;
  struct rd_source_dirs *directories; // of `named`
  uint32_t source;
  struct rd_tree_totals totals;
};

static bool take_all(struct cleaning *cleaning, int in_fd, struct rd_error *error);
static bool take(struct cleaning *cleaning, const struct rd_record *record, struct rd_error *error);
static bool go_to(struct cleaning *cleaning, uint32_t source, struct rd_bytes *path, struct rd_error *error);
static void leave_others(struct cleaning *cleaning, struct rd_bytes path);
static void leave(struct cleaning *cleaning);
static bool check(struct cleaning *cleaning, enum rd_record_type type, struct rd_bytes name, struct rd_error *error);
static void remove_entry(struct cleaning *cleaning, struct rd_bytes name, const struct rd_record *record);
static bool is_unchanged(const struct statx *status, const struct rd_record *record);
static void failed(struct cleaning *cleaning, struct rd_bytes name, int number, const char *reason);

bool rd_tree_clean(const struct rd_tree_settings *settings, int in_fd, int out_fd, struct rd_error *error) {
  (void)out_fd;
  struct cleaning cleaning = {.settings = settings, .named = rd_named_create(settings, error)};
  if (cleaning.named == NULL) return false;
  cleaning.directories = rd_named_directories(cleaning.named);
  bool is_done = take_all(&cleaning, in_fd, error);
  if (is_done) rd_events_progress(&cleaning.totals, NULL, true);
  rd_named_destroy(cleaning.named);
  return is_done;
}

static bool take_all(struct cleaning *cleaning, int in_fd, struct rd_error *error) {
  struct rd_stream_reader *reader = rd_stream_reader_create(in_fd, RD_STREAM_RESULTS, NULL);
  struct rd_record record;
  bool is_right;
  do is_right = rd_stream_next(reader, &record, error) && take(cleaning, &record, error);
  while (is_right && record.type != RD_RECORD_END);
  rd_stream_reader_destroy(reader);
  return is_right;
}

static bool take(struct cleaning *cleaning, const struct rd_record *record, struct rd_error *error) {
  if (record->type != RD_RECORD_DONE || S_ISDIR(record->done.metadata.mode)) return true;
  struct rd_bytes name = record->done.path;
  if (!go_to(cleaning, record->done.source, &name, error)) return false;
  if (name.count > 0) remove_entry(cleaning, name, record);
  return true;
}

// Enters the directory that the path is in, and leaves its last name in *path: of the source itself that of the source.
static bool go_to(struct cleaning *cleaning, uint32_t source, struct rd_bytes *path, struct rd_error *error) {
  struct rd_source_dirs *directories = cleaning->directories;
  bool is_other = source != cleaning->source || path->count == 0;
  while (is_other && rd_source_dirs_depth(directories) > 0) leave(cleaning);
  cleaning->source = source;
  if (rd_source_dirs_depth(directories) == 0) {
    if (!rd_named_begin(cleaning->named, source, error)) return false;
    struct rd_bytes own = rd_source_dirs_source_name(directories);
    if (path->count == 0) {
      *path = own;
      return own.count == 0 || check(cleaning, RD_RECORD_FILE, own, error);
    }
    if (!check(cleaning, RD_RECORD_ENTER, own, error)) return false;
  }
  leave_others(cleaning, *path);
  size_t below = rd_source_dirs_below(directories, (struct rd_bytes){0}).count, skipped = below == 0 ? 0 : below + 1;
  struct rd_bytes rest = {path->at + skipped, path->count - skipped};
  for (const unsigned char *slash; (slash = memchr(rest.at, '/', rest.count)) != NULL;) {
    struct rd_bytes name = {rest.at, (size_t)(slash - rest.at)};
    if (!check(cleaning, RD_RECORD_ENTER, name, error)) return false;
    rest = (struct rd_bytes){slash + 1, rest.count - name.count - 1};
  }
  *path = rest;
  return check(cleaning, RD_RECORD_FILE, rest, error);
}

// Leaves the directories that the path is not in, but not the source.
static void leave_others(struct cleaning *cleaning, struct rd_bytes path) {
  for (;;) {
    struct rd_bytes below = rd_source_dirs_below(cleaning->directories, (struct rd_bytes){0});
    bool is_in_it = below.count < path.count && memcmp(below.at, path.at, below.count) == 0;
    if (below.count == 0 || (is_in_it && path.at[below.count] == '/')) return;
    leave(cleaning);
  }
}

// A LEAVE is never refused.
static void leave(struct cleaning *cleaning) {
  struct rd_error error;
  (void)rd_named_check(cleaning->named, &(struct rd_record){.type = RD_RECORD_LEAVE}, &error);
}

// The target may name only what a target may ask `read` for. An ENTER is entered.
static bool check(struct cleaning *cleaning, enum rd_record_type type, struct rd_bytes name, struct rd_error *error) {
  struct rd_record record = {.type = type, .entry = {.name = name, .source = cleaning->source}};
  return rd_named_check(cleaning->named, &record, error);
}

static void remove_entry(struct cleaning *cleaning, struct rd_bytes name, const struct rd_record *record) {
  struct statx status;
  char text[RD_NAME_MAX_BYTES + 1];
  memcpy(text, name.at, name.count);
  text[name.count] = '\0';
  int fd = rd_source_dirs_fd(cleaning->directories);
  if (fd < 0 || !rd_status_of_name(fd, text, &status))
    failed(cleaning, name, errno, "cannot be removed");
  else if (!is_unchanged(&status, record))
    failed(cleaning, name, 0, "changed since it was copied: not removed");
  else if (unlinkat(fd, text, 0) < 0)
    failed(cleaning, name, errno, "cannot be removed");
  else {
    cleaning->totals.removed++;
    if (cleaning->settings->paths)
      rd_events_path(RD_ACTION_REMOVED, rd_source_dirs_shown(cleaning->directories, name), status.stx_size);
  }
  rd_events_progress(&cleaning->totals, rd_source_dirs_shown(cleaning->directories, name), false);
}

static bool is_unchanged(const struct statx *status, const struct rd_record *record) {
  struct rd_metadata now = rd_metadata_of(status);
  const struct rd_metadata *then = &record->done.metadata;
  return (now.mode & S_IFMT) == (then->mode & S_IFMT) && now.mtime_s == then->mtime_s &&
         now.mtime_ns == then->mtime_ns && (!S_ISREG(now.mode) || status->stx_size == record->done.size);
}

static void failed(struct cleaning *cleaning, struct rd_bytes name, int number, const char *reason) {
  cleaning->totals.failed++;
  rd_events_failed(rd_source_dirs_shown(cleaning->directories, name), number, reason);
}
