// SPDX-License-Identifier: Apache-2.0
#include "compare/plan.h"

#include "base/cleanup.h"
#include "base/hex.h"
#include "base/memory.h"
#include "base/size_text.h"
#include "base/text.h"
#include "compare/difference.h"
#include "report/events.h"

#include <inttypes.h>
#include <jansson.h>
#include <stdio.h>

#define COUNT_TEXT_BYTES 32u

struct rd_plan {
  FILE *out; // NULL: it could not be opened
  enum rd_tree_plan kind;
  const char *host; // of JSON; NULL: there is one target
  uint64_t files, bytes, links, directories, specials, metadata, removed;
};

// One line.
struct line {
  const char *action;
  char *path;
  struct rd_bytes target; // of a symbolic or hard link; count 0: none
  bool has_bytes;
  uint64_t bytes;
  unsigned reasons;
};

static void count(struct rd_plan *plan, const struct rd_record *record, bool is_content);
static const char *action_of(const struct rd_record *record, unsigned reasons, bool is_content);
static char *path_of(const char *path, bool is_directory);
static bool put(struct rd_plan *plan, const struct line *line, struct rd_error *error);
static void put_text(const struct rd_plan *plan, const struct line *line);
static void put_reasons(FILE *out, unsigned reasons);
static void put_json(const struct rd_plan *plan, const struct line *line);
static void put_json_text(json_t *object, const char *key, const char *hex_key, struct rd_bytes bytes);
static void put_object(const struct rd_plan *plan, json_t *object);
static char *clean(struct rd_bytes bytes);
static void put_totals(const struct rd_plan *plan, uint64_t same, uint64_t failures);
static void put_count(FILE *out, const char *before, uint64_t count, const char *one, const char *many);
static const char *count_text(uint64_t count, char text[COUNT_TEXT_BYTES]);
static bool is_written(struct rd_plan *plan, struct rd_error *error);

struct rd_plan *rd_plan_create(int fd, const struct rd_tree_settings *settings) {
  struct rd_plan *plan = rd_memory_new(1, sizeof *plan);
  plan->kind = settings->plan;
  plan->host = settings->host;
  RD_AUTO_CLOSE int own = dup(fd);
  plan->out = own < 0 ? NULL : fdopen(own, "w");
  if (plan->out == NULL) return plan;
  (void)rd_take_fd(&own);
  setvbuf(plan->out, NULL, _IOLBF, 0); // a line is shown when it is known
  return plan;
}

void rd_plan_destroy(struct rd_plan *plan) {
  if (plan == NULL) return;
  if (plan->out != NULL) fclose(plan->out);
  free(plan);
}

bool rd_plan_entry(struct rd_plan *plan, const struct rd_record *record, const char *path, const char *linked,
                   unsigned reasons, struct rd_error *error) {
  bool is_content = record->entry.want != RD_WANT_METADATA;
  RD_AUTO_FREE char *shown = path_of(path, record->type == RD_RECORD_ENTER);
  struct line line = {.action = action_of(record, reasons, is_content), .path = shown, .reasons = reasons};
  line.has_bytes = record->type == RD_RECORD_FILE && is_content && linked == NULL;
  if (line.has_bytes) line.bytes = record->entry.size;
  if (is_content) line.target = linked == NULL ? record->entry.target : rd_bytes_of(linked);
  count(plan, record, is_content);
  return put(plan, &line, error);
}

bool rd_plan_remove(struct rd_plan *plan, const char *path, bool is_directory, struct rd_error *error) {
  RD_AUTO_FREE char *shown = path_of(path, is_directory);
  plan->removed++;
  return put(plan, &(struct line){.action = "remove", .path = shown}, error);
}

bool rd_plan_end(struct rd_plan *plan, uint64_t same, uint64_t failures, struct rd_error *error) {
  if (plan->out == NULL) return is_written(plan, error);
  if (plan->kind == RD_PLAN_TEXT)
    put_totals(plan, same, failures);
  else
    put_object(plan, json_pack("{s:{s:I,s:I,s:I,s:I,s:I,s:I,s:I,s:I,s:I}}", "totals", "files", (json_int_t)plan->files,
                               "bytes", (json_int_t)plan->bytes, "directories", (json_int_t)plan->directories, "links",
                               (json_int_t)plan->links, "specials", (json_int_t)plan->specials, "metadata",
                               (json_int_t)plan->metadata, "removed", (json_int_t)plan->removed, "same",
                               (json_int_t)same, "failed", (json_int_t)failures));
  return is_written(plan, error);
}

static void count(struct rd_plan *plan, const struct rd_record *record, bool is_content) {
  if (!is_content) {
    plan->metadata++;
    return;
  }
  if (record->entry.want == RD_WANT_LINK) {
    plan->links++;
    return;
  }
  plan->directories += record->type == RD_RECORD_ENTER;
  plan->links += record->type == RD_RECORD_SYMLINK || record->type == RD_RECORD_LINK;
  plan->specials += record->type == RD_RECORD_SPECIAL;
  plan->files += record->type == RD_RECORD_FILE;
  plan->bytes += record->type == RD_RECORD_FILE ? record->entry.size : 0;
}

static const char *action_of(const struct rd_record *record, unsigned reasons, bool is_content) {
  if (record->type == RD_RECORD_LINK || record->entry.want == RD_WANT_LINK) return rd_tree_action_name(RD_ACTION_LINK);
  if (!is_content) return rd_tree_action_name(RD_ACTION_METADATA);
  return rd_tree_action_name(reasons & RD_REASON_NEW ? RD_ACTION_NEW : RD_ACTION_CHANGED);
}

// With a slash at its end if it is a directory. The caller frees it.
static char *path_of(const char *path, bool is_directory) {
  size_t bytes = strlen(path) + 3;
  char *text = rd_memory_new(bytes, 1);
  snprintf(text, bytes, "%s%s", *path == '\0' ? "." : path, is_directory ? "/" : "");
  return text;
}

static bool put(struct rd_plan *plan, const struct line *line, struct rd_error *error) {
  if (plan->out != NULL) (plan->kind == RD_PLAN_TEXT ? put_text : put_json)(plan, line);
  return is_written(plan, error);
}

static void put_text(const struct rd_plan *plan, const struct line *line) {
  RD_AUTO_FREE char *path = clean(rd_bytes_of(line->path)), *target = clean(line->target);
  char size[RD_SIZE_TEXT_BYTES];
  FILE *out = plan->out;
  if (line->has_bytes) rd_size_text((double)line->bytes, size, sizeof size);
  fprintf(out, "%-8s %10s  %s", line->action, line->has_bytes ? size : "", path);
  if (line->target.count > 0) fprintf(out, " -> %s", target);
  put_reasons(out, line->reasons & ~(unsigned)RD_REASON_NEW); // it is the action
  fputc('\n', out);
}

static void put_reasons(FILE *out, unsigned reasons) {
  const char *before = "  (";
  for (unsigned i = 0; i < RD_REASON_COUNT; i++) {
    if ((reasons & 1u << i) == 0) continue;
    fprintf(out, "%s%s", before, rd_reason_name(i));
    before = ", ";
  }
  if (reasons != 0) fputc(')', out);
}

static void put_json(const struct rd_plan *plan, const struct line *line) {
  json_t *object = json_pack("{s:s}", "action", line->action), *reasons = json_array();
  put_json_text(object, "path", "path_hex", rd_bytes_of(line->path));
  if (line->target.count > 0) put_json_text(object, "target", "target_hex", line->target);
  json_object_set_new(object, "bytes", json_integer((json_int_t)line->bytes));
  for (unsigned i = 0; i < RD_REASON_COUNT; i++)
    if (line->reasons & 1u << i) json_array_append_new(reasons, json_string(rd_reason_name(i)));
  json_object_set_new(object, "reasons", reasons);
  put_object(plan, object);
}

// And in hexadecimal digits if a part of it is no text.
static void put_json_text(json_t *object, const char *key, const char *hex_key, struct rd_bytes bytes) {
  RD_AUTO_FREE char *text = clean(bytes);
  json_object_set_new(object, key, json_string(text));
  if (memcmp(text, bytes.at, bytes.count) == 0) return;
  RD_AUTO_FREE char *hex = rd_memory_new(2 * bytes.count + 1, 1);
  rd_hex_encode(bytes.at, bytes.count, hex, 2 * bytes.count + 1);
  json_object_set_new(object, hex_key, json_string(hex));
}

static void put_object(const struct rd_plan *plan, json_t *object) {
  if (plan->host != NULL) json_object_set_new(object, "host", json_string(plan->host));
  RD_AUTO_FREE char *text = json_dumps(object, JSON_COMPACT);
  json_decref(object);
  if (text == NULL) abort(); // without memory: see base/memory.h
  fprintf(plan->out, "%s\n", text);
}

static char *clean(struct rd_bytes bytes) {
  char *text = rd_memory_copy(bytes.count == 0 ? "" : (const char *)bytes.at, bytes.count);
  rd_text_clean(text, bytes.count);
  return text;
}

static void put_totals(const struct rd_plan *plan, uint64_t same, uint64_t failures) {
  char size[RD_SIZE_TEXT_BYTES], text[COUNT_TEXT_BYTES];
  FILE *out = plan->out;
  rd_size_text((double)plan->bytes, size, sizeof size);
  fprintf(out, "would copy %s file%s, %s", count_text(plan->files, text), plan->files == 1 ? "" : "s", size);
  put_count(out, "make ", plan->directories, " directory", " directories");
  put_count(out, "make ", plan->links, " link", " links");
  put_count(out, "make ", plan->specials, " special file", " special files");
  put_count(out, "set metadata of ", plan->metadata, "", "");
  put_count(out, "remove ", plan->removed, "", "");
  fprintf(out, "; %s %s the same", count_text(same, text), same == 1 ? "is" : "are");
  put_count(out, "", failures, " could not be read", " could not be read");
  fputc('\n', out);
}

static void put_count(FILE *out, const char *before, uint64_t count, const char *one, const char *many) {
  char text[COUNT_TEXT_BYTES];
  if (count > 0) fprintf(out, "; %s%s%s", before, count_text(count, text), count == 1 ? one : many);
}

// With a comma before each three digits.
static const char *count_text(uint64_t count, char text[COUNT_TEXT_BYTES]) {
  char digits[COUNT_TEXT_BYTES];
  size_t length = (size_t)snprintf(digits, sizeof digits, "%" PRIu64, count), filled = 0;
  for (size_t i = 0; i < length; i++) {
    if (i > 0 && (length - i) % 3 == 0) text[filled++] = ',';
    text[filled++] = digits[i];
  }
  text[filled] = '\0';
  return text;
}

static bool is_written(struct rd_plan *plan, struct rd_error *error) {
  if (plan->out != NULL && !ferror(plan->out) && fflush(plan->out) == 0) return true;
  if (errno == EPIPE)
    rd_error_set(error, RD_CODE_CLOSED, "the reader of the plan is gone");
  else
    rd_error_set_errno(error, RD_CODE_SINK_UNWRITABLE, "cannot write the plan");
  return false;
}
