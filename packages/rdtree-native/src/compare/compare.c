// SPDX-License-Identifier: Apache-2.0
#include "compare/compare.h"

#include "base/cleanup.h"
#include "base/memory.h"
#include "compare/decision.h"
#include "compare/target_tree.h"
#include "report/events.h"
#include "stream/stream_reader.h"

#define ENTRIES_BETWEEN_EVENTS 64u

struct compare {
  const struct rd_tree_settings *settings;
  struct rd_stream_reader *reader;
  struct rd_stream_writer *writer;
  struct rd_owner_map *owners;
  struct rd_decider *decider;
  struct rd_source_attributes *attributes; // of the entry that comes next
  struct rd_target_tree *tree;             // NULL: it is not yet known where the entries go
  char *as_name;                           // RD_PLACE_AS: the name that the only entry gets
  bool has_failed_source;                  // one of depth 0 could not be read
  unsigned char *held;                     // encoded: a file that is the only entry, unless another one comes
  size_t held_bytes;
  struct rd_tree_totals totals;
};

static void begin(struct compare *compare, const struct rd_tree_settings *settings, int in_fd, int out_fd);
static void end(struct compare *compare);
static bool run(struct compare *compare, struct rd_error *error);
static bool take(struct compare *compare, const struct rd_record *record, struct rd_error *error);
static bool settle_place(struct compare *compare, const struct rd_record *record, struct rd_error *error);
static bool may_be_only_file(const struct compare *compare, const struct rd_record *record);
static void hold(struct compare *compare, const struct rd_record *record);
static bool release(struct compare *compare, struct rd_error *error);
static bool place(struct compare *compare, bool is_only_file, struct rd_error *error);
static bool take_record(struct compare *compare, struct rd_record record, struct rd_error *error);
static bool take_enter(struct compare *compare, struct rd_record *record, struct rd_error *error);
static bool take_leave(struct compare *compare, const struct rd_record *record, struct rd_error *error);
static bool take_entry(struct compare *compare, struct rd_record *record, struct rd_error *error);
static unsigned decide(struct compare *compare, const struct rd_record *record);
static bool pass(struct compare *compare, const struct rd_record *record, struct rd_error *error);
static void count(struct compare *compare, const struct rd_record *record, bool is_same);

bool rd_tree_compare(const struct rd_tree_settings *settings, int in_fd, int out_fd, struct rd_error *error) {
  struct compare compare;
  begin(&compare, settings, in_fd, out_fd);
  bool is_done = run(&compare, error);
  end(&compare);
  return is_done;
}

static void begin(struct compare *compare, const struct rd_tree_settings *settings, int in_fd, int out_fd) {
  *compare = (struct compare){.settings = settings};
  compare->writer = rd_stream_writer_create(out_fd, RD_STREAM_DECISIONS);
  compare->reader = rd_stream_reader_create(in_fd, RD_STREAM_ENTRIES, compare->writer);
  compare->owners = rd_owner_map_create();
  compare->decider = rd_decider_create(settings, compare->owners);
  compare->attributes = rd_source_attributes_create();
}

static void end(struct compare *compare) {
  rd_stream_reader_destroy(compare->reader);
  rd_stream_writer_destroy(compare->writer);
  rd_decider_destroy(compare->decider);
  rd_owner_map_destroy(compare->owners);
  rd_source_attributes_destroy(compare->attributes);
  rd_target_tree_destroy(compare->tree);
  free(compare->as_name);
  free(compare->held);
}

static bool run(struct compare *compare, struct rd_error *error) {
  struct rd_record record;
  do {
    if (!rd_stream_next(compare->reader, &record, error) || !take(compare, &record, error)) return false;
  } while (record.type != RD_RECORD_END);
  if (!rd_stream_finish(compare->reader, error)) return false;
  rd_events_progress(&compare->totals, NULL, true);
  return true;
}

static bool take(struct compare *compare, const struct rd_record *record, struct rd_error *error) {
  if (compare->tree == NULL && record->type != RD_RECORD_OWNER) {
    if (!settle_place(compare, record, error)) return false;
    if (compare->tree == NULL && rd_record_is_entry(record->type)) return true; // it is held
  }
  return take_record(compare, *record, error);
}

// Before the first entry. A file waits for what follows it: if that is the end it may become what the target names.
static bool settle_place(struct compare *compare, const struct rd_record *record, struct rd_error *error) {
  if (record->type == RD_RECORD_FAILED) compare->has_failed_source = true;
  if (compare->held != NULL) {
    bool is_only = record->type == RD_RECORD_END && record->end.failures == 0;
    return place(compare, is_only, error) && release(compare, error);
  }
  if (!rd_record_is_entry(record->type)) return true;
  if (!may_be_only_file(compare, record)) return place(compare, false, error);
  hold(compare, record);
  return true;
}

static bool may_be_only_file(const struct compare *compare, const struct rd_record *record) {
  bool is_first = record->entry.source == 0 && !compare->has_failed_source;
  return is_first && record->type != RD_RECORD_ENTER && rd_target_place(compare->settings->target, true) == RD_PLACE_AS;
}

static void hold(struct compare *compare, const struct rd_record *record) {
  compare->held = rd_memory_new(rd_record_bound(record), 1);
  compare->held_bytes = rd_record_encode(record, compare->held);
}

static bool release(struct compare *compare, struct rd_error *error) {
  struct rd_record record;
  if (!rd_record_decode(compare->held, compare->held_bytes, &record, error)) return false;
  return take_record(compare, record, error);
}

static bool place(struct compare *compare, bool is_only_file, struct rd_error *error) {
  const struct rd_tree_settings *settings = compare->settings;
  struct rd_target target;
  enum rd_place where = rd_target_place(settings->target, is_only_file);
  if (!rd_target_open(&target, settings->target, where, settings->make_parents, error)) return false;
  compare->as_name = target.name == NULL ? NULL : rd_memory_copy(target.name, strlen(target.name));
  compare->tree = rd_target_tree_create(settings->target, &target);
  rd_target_close(&target);
  struct rd_record record = {.type = RD_RECORD_PLACE, .place = where};
  return rd_stream_put(compare->writer, &record, error);
}

static bool take_record(struct compare *compare, struct rd_record record, struct rd_error *error) {
  switch (record.type) {
  case RD_RECORD_OWNER:
    rd_owner_map_add(compare->owners, record.owner.is_group, record.owner.id, record.owner.name);
    return rd_stream_put(compare->writer, &record, error);
  case RD_RECORD_XATTR:
    return rd_source_attributes_add(compare->attributes, &record.xattr, error);
  case RD_RECORD_ENTER:
    return take_enter(compare, &record, error);
  case RD_RECORD_LEAVE:
    return take_leave(compare, &record, error);
  case RD_RECORD_FILE:
  case RD_RECORD_SYMLINK:
  case RD_RECORD_SPECIAL:
  case RD_RECORD_LINK:
    return take_entry(compare, &record, error);
  default: // FAILED, END
    return rd_stream_put(compare->writer, &record, error);
  }
}

static bool take_enter(struct compare *compare, struct rd_record *record, struct rd_error *error) {
  struct statx status;
  bool is_there;
  if (!rd_target_tree_enter(compare->tree, record->entry.name, &status, &is_there, error)) return false;
  int fd = rd_target_tree_fd(compare->tree);
  unsigned reasons = RD_REASON_NEW;
  if (is_there) reasons = rd_decide_directory(compare->decider, record, compare->attributes, fd, &status);
  record->entry.want = rd_want_of(compare->decider, record, reasons);
  count(compare, record, reasons == 0);
  return pass(compare, record, error);
}

static bool take_leave(struct compare *compare, const struct rd_record *record, struct rd_error *error) {
  rd_target_tree_leave(compare->tree);
  return rd_stream_put(compare->writer, record, error);
}

static bool take_entry(struct compare *compare, struct rd_record *record, struct rd_error *error) {
  unsigned reasons = decide(compare, record);
  count(compare, record, reasons == 0);
  if (reasons == 0) {
    rd_source_attributes_clear(compare->attributes);
    return true;
  }
  record->entry.want = record->type == RD_RECORD_LINK ? RD_WANT_ALL : rd_want_of(compare->decider, record, reasons);
  return pass(compare, record, error);
}

static unsigned decide(struct compare *compare, const struct rd_record *record) {
  char name[RD_NAME_MAX_BYTES + 1];
  int fd = rd_target_tree_fd(compare->tree);
  memcpy(name, record->entry.name.at, record->entry.name.count);
  name[record->entry.name.count] = '\0';
  const char *here = compare->as_name == NULL ? name : compare->as_name;
  if (record->type == RD_RECORD_LINK)
    return rd_decide_link(compare->decider, record, rd_target_tree_top_fd(compare->tree), fd, here);
  return rd_decide_entry(compare->decider, record, compare->attributes, fd, here);
}

// The entry, after its attributes.
static bool pass(struct compare *compare, const struct rd_record *record, struct rd_error *error) {
  bool has_attributes = record->entry.want != RD_WANT_NOTHING;
  bool is_passed = !has_attributes || rd_source_attributes_put(compare->attributes, compare->writer, error);
  rd_source_attributes_clear(compare->attributes);
  return is_passed && rd_stream_put(compare->writer, record, error);
}

static void count(struct compare *compare, const struct rd_record *record, bool is_same) {
  struct rd_tree_totals *totals = &compare->totals;
  totals->entries++;
  totals->same += is_same;
  totals->directories += record->type == RD_RECORD_ENTER;
  totals->links += record->type == RD_RECORD_LINK;
  totals->files += record->type == RD_RECORD_FILE;
  totals->bytes += record->type == RD_RECORD_FILE ? record->entry.size : 0;
  if (totals->entries % ENTRIES_BETWEEN_EVENTS != 0) return;
  RD_AUTO_FREE char *path = rd_target_tree_shown_path(compare->tree, record->entry.name);
  rd_events_progress(totals, path, false);
}
