// SPDX-License-Identifier: Apache-2.0
#include "report/events.h"

#include "base/hex.h"
#include "base/io.h"
#include "report/lines.h"

#include <errno.h>
#include <jansson.h>
#include <pthread.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define PROGRESS_MS 250
// A longer path is shortened to this many bytes at its beginning and at its end: ten paths have to fit in a line.
#define PATH_PART_BYTES 2048
#define LEFT_OUT "…"

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static int64_t progress_at_ms;
static atomic_uint_fast64_t failures;

static void emit_totals(const struct rd_tree_totals *totals, const char *path, bool is_done);
static json_t *hex_of(const char *path);
static void emit(json_t *object);

const char *rd_tree_action_name(enum rd_tree_action action) {
  static const char *const names[] = {"new", "changed", "metadata", "link", "removed"};
  return names[action];
}

void rd_events_progress(const struct rd_tree_totals *totals, const char *path, bool is_last) {
  if (rd_lines_are_wanted()) {
    if (is_last) rd_lines_summary(totals->files, totals->bytes, rd_events_failures());
    return;
  }
  int64_t now_ms = rd_now_ms();
  pthread_mutex_lock(&lock);
  bool is_due = is_last || now_ms - progress_at_ms >= PROGRESS_MS;
  if (is_due) progress_at_ms = now_ms;
  pthread_mutex_unlock(&lock);
  if (!is_due) return;
  emit_totals(totals, path, is_last);
}

void rd_events_totals(const struct rd_tree_totals *totals) {
  if (!rd_lines_are_wanted()) emit_totals(totals, NULL, false);
}

void rd_events_kept(const char *path, uint64_t bytes) {
  if (!rd_lines_are_wanted())
    emit(json_pack("{s:s,s:o,s:I}", "event", "kept", "path", hex_of(path), "bytes", (json_int_t)bytes));
}

void rd_events_failed(const char *path, int number, const char *text) {
  struct rd_error error;
  errno = number;
  if (number == 0)
    rd_error_set(&error, RD_CODE_OK, "%s", text);
  else
    rd_error_set_errno(&error, RD_CODE_OK, "%s", text);
  atomic_fetch_add(&failures, 1);
  if (rd_lines_are_wanted()) {
    rd_lines_failed(path, error.message);
    return;
  }
  emit(json_pack("{s:s,s:o,s:s,s:s}", "event", "failed", "path", hex_of(path), "code",
                 number == 0 ? "" : strerrorname_np(number), "message", error.message));
}

uint64_t rd_events_failures(void) {
  return atomic_load(&failures);
}

void rd_events_path(enum rd_tree_action action, const char *path, uint64_t bytes) {
  emit(json_pack("{s:s,s:s,s:o,s:I}", "event", "path", "action", rd_tree_action_name(action), "path", hex_of(path),
                 "bytes", (json_int_t)bytes));
}

void rd_events_warning(const char *format, ...) {
  struct rd_error text; // replaces control characters
  char line[sizeof text.message];
  va_list arguments;
  va_start(arguments, format);
  vsnprintf(line, sizeof line, format, arguments);
  va_end(arguments);
  rd_error_set(&text, RD_CODE_OK, "%s", line);
  if (rd_lines_are_wanted())
    rd_lines_warning(text.message);
  else
    emit(json_pack("{s:s,s:s}", "event", "warning", "message", text.message));
}

void rd_events_slowest(bool is_directories, const struct rd_slow_path *paths, size_t count) {
  if (rd_lines_are_wanted()) return;
  json_t *list = json_array();
  for (size_t i = 0; i < count; i++)
    json_array_append_new(list, json_pack("{s:o,s:I,s:I}", "path", hex_of(paths[i].path), "bytes",
                                          (json_int_t)paths[i].bytes, "ms", (json_int_t)(paths[i].ns / 1000000)));
  emit(json_pack("{s:s,s:s,s:o}", "event", "slowest", "of", is_directories ? "directories" : "files", "paths", list));
}

void rd_events_decisions(const unsigned char digest[RD_DIGEST_TREE_BYTES], uint64_t dropped, uint64_t skipped) {
  char text[2 * RD_DIGEST_TREE_BYTES + 1];
  rd_hex_encode(digest, RD_DIGEST_TREE_BYTES, text, sizeof text);
  if (!rd_lines_are_wanted())
    emit(json_pack("{s:s,s:s,s:I,s:I}", "event", "decisions", "digest", text, "dropped", (json_int_t)dropped, "skipped",
                   (json_int_t)skipped));
}

void rd_events_fatal(const struct rd_error *error) {
  if (rd_lines_are_wanted())
    rd_lines_fatal(error);
  else
    emit(json_pack("{s:s,s:s,s:s}", "event", "fatal", "code", rd_code_name(error->code), "message", error->message));
}

static void emit_totals(const struct rd_tree_totals *totals, const char *path, bool is_done) {
  emit(json_pack("{s:s,s:I,s:I,s:I,s:I,s:I,s:I,s:I,s:I,s:I,s:I,s:I,s:I,s:I,s:o,s:b}", "event", "progress", "entries",
                 (json_int_t)totals->entries, "files", (json_int_t)totals->files, "bytes", (json_int_t)totals->bytes,
                 "same", (json_int_t)totals->same, "same_files", (json_int_t)totals->same_files, "same_bytes",
                 (json_int_t)totals->same_bytes, "sent_bytes", (json_int_t)totals->sent_bytes, "removed",
                 (json_int_t)totals->removed, "failed", (json_int_t)totals->failed, "links", (json_int_t)totals->links,
                 "directories", (json_int_t)totals->directories, "resumed_bytes", (json_int_t)totals->resumed_bytes,
                 "owners_refused", (json_int_t)totals->owners_refused, "path",
                 path == NULL ? json_null() : hex_of(path), "done", is_done));
}

// A path may contain any bytes, and be as long as the tree is deep.
static json_t *hex_of(const char *path) {
  char shortened[2 * PATH_PART_BYTES + sizeof LEFT_OUT];
  size_t count = strlen(path);
  if (count > 2 * PATH_PART_BYTES) {
    snprintf(shortened, sizeof shortened, "%.*s" LEFT_OUT "%s", PATH_PART_BYTES, path, path + count - PATH_PART_BYTES);
    path = shortened;
    count = strlen(path);
  }
  char text[2 * sizeof shortened];
  rd_hex_encode((const unsigned char *)path, count, text, sizeof text);
  return json_string(text);
}

static void emit(json_t *object) {
  char *line = object == NULL ? NULL : json_dumps(object, JSON_COMPACT);
  json_decref(object);
  if (line == NULL) abort(); // out of memory: see base/memory.h
  size_t count = strlen(line);
  line[count] = '\n';
  pthread_mutex_lock(&lock);
  // Ignored: if there is no reader, the next write to the stream ends this program.
  (void)!rd_write_all(STDERR_FILENO, line, count + 1);
  pthread_mutex_unlock(&lock);
  free(line);
}
