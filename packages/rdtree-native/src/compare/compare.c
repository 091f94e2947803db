// SPDX-License-Identifier: Apache-2.0
#include "compare/compare.h"

#include "base/cleanup.h"
#include "base/memory.h"
#include "compare/decision.h"
#include "compare/decision_output.h"
#include "compare/link_choice.h"
#include "compare/partial.h"
#include "compare/removed_names.h"
#include "entry/partial_name.h"
#include "pattern/request.h"
#include "report/events.h"
#include "stream/stream_reader.h"

#include <inttypes.h>

#define ENTRIES_BETWEEN_EVENTS 64u

struct compare {
  const struct rd_tree_settings *settings;
  struct rd_stream_reader *reader;
  struct rd_decision_output *output;
  struct rd_request *request;
  struct rd_owner_map *owners;
  struct rd_decider *decider;
  struct rd_attributes attributes;  // of the entry that comes next
  struct rd_removed_names *removal; // NULL: nothing is removed
  struct rd_link_choice *links;     // NULL: no --link-dest, or `tree` is NULL
  struct rd_target_tree *tree;      // NULL: it is not yet known where the entries go
  bool has_failed_source;           // one of depth 0 could not be read
  uint64_t source_failures;         // that scan counted
  uint64_t specials;                // that were skipped
  unsigned char *held;              // encoded: a file that is the only entry, unless another one comes
  size_t held_bytes;
  uint64_t kept_at_source; // with `clean`: files whose content was not compared
  struct rd_tree_totals totals;
};

static bool begin(struct compare *compare, const struct rd_tree_settings *settings, int in_fd, int out_fd,
                  struct rd_error *error);
static void end(struct compare *compare);
static bool run(struct compare *compare, struct rd_error *error);
static bool take(struct compare *compare, const struct rd_record *record, struct rd_error *error);
static bool settle_place(struct compare *compare, const struct rd_record *record, struct rd_error *error);
static bool is_skipped(const struct compare *compare, const struct rd_record *record);
static bool may_be_only_file(const struct compare *compare, const struct rd_record *record);
static void hold(struct compare *compare, const struct rd_record *record);
static bool release(struct compare *compare, struct rd_error *error);
static bool place(struct compare *compare, bool is_only_file, struct rd_error *error);
static bool take_record(struct compare *compare, struct rd_record record, struct rd_error *error);
static bool take_enter(struct compare *compare, struct rd_record *record, struct rd_error *error);
static bool take_leave(struct compare *compare, const struct rd_record *record, struct rd_error *error);
static bool take_entry(struct compare *compare, struct rd_record *record, struct rd_error *error);
static bool is_for_clean(const struct compare *compare, const struct rd_record *record, const char *name);
static bool is_certain(const struct rd_tree_settings *settings, const struct rd_record *record);
static unsigned decide(struct compare *compare, const struct rd_record *record, const char *name);
static enum rd_want want_of(const struct compare *compare, struct rd_record *record, const char *name,
                            unsigned reasons);
static bool is_linked(const struct compare *compare, struct rd_record *record, const char *name);
static bool note(struct compare *compare, const struct rd_record *record, struct rd_error *error);
static bool skip_special(struct compare *compare, const struct rd_record *record, struct rd_error *error);
static bool take_failed(struct compare *compare, const struct rd_record *record, struct rd_error *error);
static bool take_end(struct compare *compare, const struct rd_record *record, struct rd_error *error);
static bool remove_others(struct compare *compare, bool is_whole, struct rd_error *error);
static bool remove_name(void *context, struct rd_bytes name, bool is_directory, struct rd_error *error);
static bool pass_file(struct compare *compare, struct rd_record *record, const char *name, unsigned reasons,
                      struct rd_error *error);
static bool find_partial(const struct compare *compare, const struct rd_entry *entry, const char *name,
                         struct rd_partial *partial);
static bool pass(struct compare *compare, const struct rd_record *record, const struct rd_blocks *blocks,
                 unsigned reasons, struct rd_error *error);
static char *linked_path(const struct compare *compare, const struct rd_record *record);
static void count(struct compare *compare, const struct rd_record *record, bool is_same);
static void warn_of_kept(const struct compare *compare);

bool rd_tree_compare(const struct rd_tree_settings *settings, int in_fd, int out_fd, struct rd_error *error) {
  struct compare compare;
  bool is_done = begin(&compare, settings, in_fd, out_fd, error) && run(&compare, error);
  end(&compare);
  return is_done;
}

static bool begin(struct compare *compare, const struct rd_tree_settings *settings, int in_fd, int out_fd,
                  struct rd_error *error) {
  *compare = (struct compare){.settings = settings};
  compare->output = rd_decision_output_create(out_fd, settings);
  compare->reader = rd_stream_reader_create(in_fd, RD_STREAM_ENTRIES, rd_decision_output_writer(compare->output));
  compare->owners = rd_owner_map_create();
  compare->decider = rd_decider_create(settings, compare->owners);
  compare->request = rd_request_create(settings, error);
  if (compare->request == NULL) return false;
  if (settings->remove) compare->removal = rd_removed_names_create(settings, error);
  return !settings->remove || compare->removal != NULL;
}

static void end(struct compare *compare) {
  rd_stream_reader_destroy(compare->reader);
  rd_decision_output_destroy(compare->output);
  rd_request_destroy(compare->request);
  rd_decider_destroy(compare->decider);
  rd_owner_map_destroy(compare->owners);
  rd_attributes_clear(&compare->attributes);
  rd_removed_names_destroy(compare->removal);
  rd_link_choice_destroy(compare->links);
  rd_target_tree_destroy(compare->tree);
  free(compare->held);
}

static bool run(struct compare *compare, struct rd_error *error) {
  struct rd_record record;
  do {
    if (!rd_stream_next(compare->reader, &record, error) || !rd_request_check(compare->request, &record, -1, error) ||
        !take(compare, &record, error))
      return false;
  } while (record.type != RD_RECORD_END);
  if (!rd_stream_finish(compare->reader, error)) return false;
  rd_decision_output_report(compare->output, compare->source_failures, compare->specials);
  warn_of_kept(compare);
  rd_events_progress(&compare->totals, NULL, true);
  return true;
}

static bool take(struct compare *compare, const struct rd_record *record, struct rd_error *error) {
  // Behind a file that is held an owner is of another entry; before it nothing is settled by it.
  if (compare->tree == NULL && (record->type != RD_RECORD_OWNER || compare->held != NULL)) {
    if (!settle_place(compare, record, error)) return false;
    if (compare->tree == NULL && compare->held != NULL) return true;
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
  if (!rd_record_is_entry(record->type) || is_skipped(compare, record)) return true;
  if (!may_be_only_file(compare, record)) return place(compare, false, error);
  hold(compare, record);
  return true;
}

// A special file of a copy without them, which scan sends so that its name is known.
static bool is_skipped(const struct compare *compare, const struct rd_record *record) {
  return record->type == RD_RECORD_SPECIAL && !compare->settings->archive;
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
  enum rd_target_mode where = rd_target_place(settings->target, is_only_file);
  if (!rd_target_open(&target, settings->target, where, settings->make_parents, error)) return false;
  compare->tree = rd_target_tree_create(settings->target, &target);
  rd_target_close(&target);
  bool has_links = settings->link_dest_count > 0;
  if (has_links && (compare->links = rd_link_choice_create(settings, where, error)) == NULL) return false;
  return rd_decision_output_put(compare->output, &(struct rd_record){.type = RD_RECORD_PLACE, .place = where}, error);
}

static bool take_record(struct compare *compare, struct rd_record record, struct rd_error *error) {
  switch (record.type) {
  case RD_RECORD_OWNER:
    rd_owner_map_add(compare->owners, record.owner.is_group, record.owner.id, record.owner.name);
    return rd_decision_output_put(compare->output, &record, error);
  case RD_RECORD_XATTR:
    rd_attributes_add(&compare->attributes, &record.xattr);
    return true;
  case RD_RECORD_ENTER:
    return take_enter(compare, &record, error);
  case RD_RECORD_LEAVE:
    return take_leave(compare, &record, error);
  case RD_RECORD_SPECIAL:
    return is_skipped(compare, &record) ? skip_special(compare, &record, error) : take_entry(compare, &record, error);
  case RD_RECORD_FILE:
  case RD_RECORD_SYMLINK:
  case RD_RECORD_LINK:
    return take_entry(compare, &record, error);
  case RD_RECORD_FAILED:
    return take_failed(compare, &record, error);
  default:
    return take_end(compare, &record, error);
  }
}

static bool take_enter(struct compare *compare, struct rd_record *record, struct rd_error *error) {
  struct statx status;
  enum rd_entered entered;
  if (!note(compare, record, error)) return false;
  if (!rd_target_tree_enter(compare->tree, record->entry.name, &status, &entered, error)) return false;
  const struct statx *there = entered == RD_ENTERED_DIRECTORY ? &status : NULL;
  if (compare->links != NULL && !rd_link_choice_enter(compare->links, record->entry.name, there, error)) return false;
  if (compare->removal != NULL) rd_removed_names_enter(compare->removal, record->entry.name);
  int fd = rd_target_tree_fd(compare->tree);
  unsigned reasons = entered == RD_ENTERED_OTHER ? RD_REASON_TYPE : RD_REASON_NEW;
  if (entered == RD_ENTERED_DIRECTORY)
    reasons = rd_decide_directory(compare->decider, record, &compare->attributes, fd, &status);
  record->entry.want = rd_want_of(compare->decider, record, reasons);
  count(compare, record, reasons == 0);
  return pass(compare, record, NULL, reasons, error);
}

static bool take_leave(struct compare *compare, const struct rd_record *record, struct rd_error *error) {
  bool is_whole = record->leave.is_whole;
  if (!remove_others(compare, is_whole, error)) return false;
  if (compare->removal != NULL) rd_removed_names_leave(compare->removal, is_whole);
  if (compare->links != NULL) rd_link_choice_leave(compare->links);
  rd_target_tree_leave(compare->tree);
  return rd_decision_output_put(compare->output, record, error);
}

static bool take_entry(struct compare *compare, struct rd_record *record, struct rd_error *error) {
  char text[RD_NAME_MAX_BYTES + 1];
  const char *name = rd_target_tree_name(compare->tree, record->entry.name, text);
  if (!note(compare, record, error)) return false;
  unsigned reasons = decide(compare, record, name);
  bool is_same = reasons == 0 && !is_for_clean(compare, record, name);
  if (!is_same && record->type != RD_RECORD_LINK) record->entry.want = want_of(compare, record, name, reasons);
  bool has_content = is_same || record->entry.want == RD_WANT_METADATA;
  if (has_content && !is_certain(compare->settings, record)) compare->kept_at_source++;
  count(compare, record, is_same);
  if (is_same) {
    rd_attributes_clear(&compare->attributes);
    rd_decision_output_skip(compare->output);
    return true;
  }
  bool is_file = record->type == RD_RECORD_FILE && record->entry.want == RD_WANT_ALL;
  return is_file ? pass_file(compare, record, name, reasons, error) : pass(compare, record, NULL, reasons, error);
}

// The target has it: write reports that to the program that deletes it at the source.
static bool is_for_clean(const struct compare *compare, const struct rd_record *record, const char *name) {
  const struct rd_tree_settings *settings = compare->settings;
  return settings->clean && settings->plan == RD_PLAN_NONE && is_certain(settings, record) &&
         !rd_decide_newer(compare->decider, record, rd_target_tree_fd(compare->tree), name);
}

// False: only size and time say that the contents are the same.
static bool is_certain(const struct rd_tree_settings *settings, const struct rd_record *record) {
  if (!S_ISREG(record->entry.metadata.mode)) return true;
  return settings->checksum && (record->type == RD_RECORD_LINK || record->entry.has_digest);
}

static unsigned decide(struct compare *compare, const struct rd_record *record, const char *name) {
  int fd = rd_target_tree_fd(compare->tree);
  if (record->type == RD_RECORD_LINK)
    return rd_decide_link(compare->decider, record, rd_target_tree_top_fd(compare->tree), fd, name);
  return rd_decide_entry(compare->decider, record, &compare->attributes, fd, name);
}

// With 0, write only reports the entry, to the program that deletes it at the source.
static enum rd_want want_of(const struct compare *compare, struct rd_record *record, const char *name,
                            unsigned reasons) {
  if (reasons == 0) return RD_WANT_METADATA;
  return is_linked(compare, record, name) ? RD_WANT_LINK : rd_want_of(compare->decider, record, reasons);
}

// An entry that a directory of --link-dest has.
static bool is_linked(const struct compare *compare, struct rd_record *record, const char *name) {
  return compare->links != NULL &&
         rd_link_choice_find(compare->links, compare->decider, record, &compare->attributes,
                             rd_target_tree_fd(compare->tree), name, &record->entry.link_dest);
}

static bool note(struct compare *compare, const struct rd_record *record, struct rd_error *error) {
  if (compare->removal == NULL || record->entry.name.count == 0) return true;
  return rd_removed_names_note(compare->removal, record->entry.name, record->type == RD_RECORD_ENTER, error);
}

// Its name is kept at the target, as with rsync.
static bool skip_special(struct compare *compare, const struct rd_record *record, struct rd_error *error) {
  rd_attributes_clear(&compare->attributes);
  rd_decision_output_skip(compare->output);
  compare->specials++;
  return note(compare, record, error);
}

static bool take_failed(struct compare *compare, const struct rd_record *record, struct rd_error *error) {
  if (!note(compare, record, error)) return false;
  if (compare->removal != NULL) rd_removed_names_note_partial(compare->removal, record->entry.name);
  return rd_decision_output_put(compare->output, record, error);
}

// The names of the target directory itself are all known only now: several sources may have gone into it.
static bool take_end(struct compare *compare, const struct rd_record *record, struct rd_error *error) {
  if (compare->tree != NULL && !remove_others(compare, record->end.failures == 0, error)) return false;
  compare->source_failures = record->end.failures;
  return rd_decision_output_end(compare->output, record, compare->totals.same, error);
}

static bool remove_others(struct compare *compare, bool is_whole, struct rd_error *error) {
  bool has_failed = false;
  bool is_done = compare->removal == NULL || rd_removed_names_list(compare->removal, compare->tree, is_whole,
                                                                   remove_name, compare, &has_failed, error);
  compare->totals.failed += has_failed;
  return is_done;
}

static bool remove_name(void *context, struct rd_bytes name, bool is_directory, struct rd_error *error) {
  struct compare *compare = context;
  bool is_kept = is_directory && compare->links != NULL &&
                 rd_link_choice_keeps(compare->links, rd_target_tree_fd(compare->tree), name);
  if (is_kept) return true;
  compare->totals.removed++;
  return rd_decision_output_remove(compare->output, compare->tree, name, is_directory, error);
}

// A file whose content is wanted: less of it where an interrupted copy has left a part.
static bool pass_file(struct compare *compare, struct rd_record *record, const char *name, unsigned reasons,
                      struct rd_error *error) {
  struct rd_partial partial;
  bool may_have_partial = record->entry.size >= RD_PARTIAL_FILE_MIN_BYTES;
  if (may_have_partial && compare->removal != NULL) rd_removed_names_note_partial(compare->removal, record->entry.name);
  if (!may_have_partial || !find_partial(compare, &record->entry, name, &partial))
    return pass(compare, record, NULL, reasons, error);
  record->entry.want = RD_WANT_RESUME;
  bool is_passed = pass(compare, record, &partial.blocks, reasons, error);
  free(partial.digests);
  return is_passed;
}

static bool find_partial(const struct compare *compare, const struct rd_entry *entry, const char *name,
                         struct rd_partial *partial) {
  const struct rd_tree_settings *settings = compare->settings;
  if (!settings->partial || settings->plan != RD_PLAN_NONE) return false;
  RD_AUTO_FREE char *path = rd_target_tree_shown_path(compare->tree, entry->name);
  return rd_partial_find(partial, entry, rd_target_tree_fd(compare->tree), name, rd_tree_threads(settings, false),
                         &compare->totals, path);
}

static bool pass(struct compare *compare, const struct rd_record *record, const struct rd_blocks *blocks,
                 unsigned reasons, struct rd_error *error) {
  RD_AUTO_FREE char *linked = linked_path(compare, record);
  struct rd_decided decided = {record, &compare->attributes, blocks, linked, reasons};
  bool is_passed = rd_decision_output_decided(compare->output, compare->tree, &decided, error);
  rd_attributes_clear(&compare->attributes);
  return is_passed;
}

// NULL: the entry does not become a link, or its path is not shown.
static char *linked_path(const struct compare *compare, const struct rd_record *record) {
  char text[RD_NAME_MAX_BYTES + 1];
  if (compare->settings->plan == RD_PLAN_NONE || record->entry.want != RD_WANT_LINK) return NULL;
  const char *name = rd_target_tree_name(compare->tree, record->entry.name, text);
  return rd_link_choice_shown_path(compare->links, record->entry.link_dest, name);
}

static void count(struct compare *compare, const struct rd_record *record, bool is_same) {
  struct rd_tree_totals *totals = &compare->totals;
  totals->entries++;
  totals->same += is_same;
  totals->directories += record->type == RD_RECORD_ENTER;
  totals->links += record->type == RD_RECORD_LINK || record->entry.want == RD_WANT_LINK;
  if (record->type == RD_RECORD_FILE) {
    bool has_content = is_same || record->entry.want == RD_WANT_METADATA || record->entry.want == RD_WANT_LINK;
    totals->files++;
    totals->bytes += record->entry.size;
    totals->same_files += has_content;
    totals->same_bytes += has_content ? record->entry.size : 0;
  }
  if (totals->entries % ENTRIES_BETWEEN_EVENTS != 0) return;
  bool is_entered = record->type == RD_RECORD_ENTER; // the tree is in it
  struct rd_bytes name = is_entered ? (struct rd_bytes){0} : record->entry.name;
  RD_AUTO_FREE char *path = rd_target_tree_shown_path(compare->tree, name);
  rd_events_progress(totals, path, false);
}

static void warn_of_kept(const struct compare *compare) {
  const struct rd_tree_settings *settings = compare->settings;
  uint64_t kept = compare->kept_at_source;
  if (!settings->clean || settings->plan != RD_PLAN_NONE || kept == 0) return;
  rd_events_warning("%" PRIu64 " %s at the source, because the target already had %s, by size and time "
                    "(add --checksum to compare contents and delete %s)",
                    kept, kept == 1 ? "file stays" : "files stay", kept == 1 ? "it" : "them",
                    kept == 1 ? "it" : "them");
}
