// SPDX-License-Identifier: Apache-2.0
#include "write/write.h"

#include "base/cleanup.h"
#include "base/io.h"
#include "base/memory.h"
#include "entry/owner_map.h"
#include "entry/xattrs.h"
#include "pattern/pattern.h"
#include "pattern/request.h"
#include "stream/own_view.h"
#include "stream/stream_reader.h"
#include "stream/tally.h"
#include "target/batch.h"
#include "target/directory_metadata.h"
#include "target/links.h"
#include "target/removal.h"
#include "target/slowest.h"
#include "write/follower.h"
#include "write/stop_signals.h"

#define WAIT_MS 250
// After the input ended too early. The agent kills this program 3 s after a signal.
#define WRITE_WITHIN_MS 500
#define PUBLISH_WITHIN_MS 1500
#define NO_TREE "received a plain stream, not a directory tree (give rdrecv a FILE that is not a directory)"

// The input, and what each of its records goes through.
struct following {
  struct rd_stream_reader *reader;
  struct rd_request *request;
  struct rd_tally *tally;
  struct rd_follower *follower;
};

static bool run(struct rd_write *write, struct rd_later *later, int in_fd, struct rd_ring_reader *ring,
                struct rd_error *error);
static void publish_whole_files(struct rd_write *write);
static void end_early(struct rd_write *write, struct rd_later *later);
static bool follow(struct rd_write *write, const struct following *following, struct rd_error *error);
static bool take(const struct following *following, const struct rd_record *record, struct rd_error *error);
static void report_decisions(const struct rd_write *write, const struct rd_tally *tally);
static bool finish(struct rd_write *write, struct rd_later *later, struct rd_error *error);
static bool remove_others(struct rd_write *write, struct rd_later *later, struct rd_error *error);
static bool wait_for_files(struct rd_write *write, struct rd_error *error);
static bool has_signal(struct rd_error *error);
static bool is_stopped(struct rd_write *write, struct rd_error *error);
static bool end_results(struct rd_stream_writer *results, const struct rd_write *write, struct rd_error *error);

bool rd_tree_write(const struct rd_tree_settings *settings, int in_fd, int out_fd, struct rd_shared_ring *shared,
                   struct rd_error *error) {
  struct rd_write write;
  struct rd_later later = {
      .links = rd_deferred_create(), .removals = rd_deferred_create(), .directories = rd_deferred_create()};
  struct rd_stream_writer *results = settings->clean ? rd_stream_writer_create(out_fd, RD_STREAM_RESULTS) : NULL;
  rd_write_begin(&write, settings);
  rd_stop_signals_catch(in_fd);
  struct rd_ring_reader *ring = shared != NULL ? rd_ring_reader_create(shared, in_fd) : NULL;
  write.slowest = rd_slowest_create();
  write.owners = rd_owner_map_create();
  write.xattrs = rd_xattrs_create(settings);
  write.patterns = rd_patterns_create(settings, error);
  write.jobs = write.patterns == NULL ? NULL : rd_jobs_create(rd_tree_threads(settings, false), error);
  bool is_begun = write.jobs != NULL && rd_batches_create(&write, results, error) != NULL;
  bool is_done = is_begun && run(&write, &later, in_fd, ring, error) && end_results(results, &write, error);
  if (is_begun && !is_done) {
    publish_whole_files(&write);
    rd_write_stop(&write, error);
  }
  rd_batches_stop(write.batches);
  rd_jobs_destroy(write.jobs);
  rd_batches_destroy(write.batches);
  if (is_begun && !is_done) end_early(&write, &later);
  rd_journal_remove(later.journal);
  rd_directory_release(later.top);
  if (is_done) {
    if (settings->alone && atomic_load(&write.source_failures) > 0)
      rd_write_failed(&write, -1, settings->target, 0,
                      "the source could not be read completely (see the messages of rdsend)");
    rd_write_warn(&write);
    rd_slowest_report(write.slowest);
    rd_write_progress(&write, NULL, true);
  }
  rd_deferred_destroy(later.links);
  rd_deferred_destroy(later.removals);
  rd_deferred_destroy(later.directories);
  rd_stream_writer_destroy(results);
  rd_xattrs_destroy(write.xattrs);
  rd_owner_map_destroy(write.owners);
  rd_patterns_destroy(write.patterns);
  rd_slowest_destroy(write.slowest);
  rd_ring_reader_destroy(ring);
  rd_write_end(&write);
  return is_done;
}

static bool run(struct rd_write *write, struct rd_later *later, int in_fd, struct rd_ring_reader *ring,
                struct rd_error *error) {
  enum rd_stream_phase phase = write->settings->role == RD_TREE_COPY ? RD_STREAM_DECISIONS : RD_STREAM_CONTENTS;
  struct following following = {.reader = rd_stream_reader_create(in_fd, phase, NULL),
                                .request = rd_request_create(write->settings, error),
                                .tally = rd_tally_create(write->settings->key)};
  following.follower = rd_follower_create(write, later, following.reader);
  if (ring != NULL) rd_stream_read_from(following.reader, ring);
  rd_stream_expect_wants(following.reader, write->settings->width);
  bool is_followed = following.request != NULL && follow(write, &following, error);
  if (!is_followed) {
    bool is_signal = has_signal(error);
    // rdrecv ends its input only when all of it has come.
    bool has_input = following.request != NULL && !is_signal && error->code != RD_CODE_SOURCE_UNREADABLE;
    if (has_input && write->settings->alone && !rd_stream_has_begun(following.reader))
      rd_error_set(error, RD_CODE_DATA_DAMAGED, NO_TREE);
    if (is_signal || error->code == RD_CODE_PEER_LOST)
      rd_write_cut(write, WRITE_WITHIN_MS);
    else
      rd_write_stop(write, error);
  }
  rd_follower_destroy(following.follower);
  rd_request_destroy(following.request);
  rd_stream_reader_destroy(following.reader);
  bool is_done = is_followed && finish(write, later, error);
  if (is_done) report_decisions(write, following.tally);
  rd_tally_destroy(following.tally);
  return is_done || (is_stopped(write, error), false);
}

// Of an input that ended too early: the files that came whole get their names.
static void publish_whole_files(struct rd_write *write) {
  if (atomic_load(&write->late_ms) == 0) return;
  int64_t until_ms = rd_now_ms() + PUBLISH_WITHIN_MS;
  while (!rd_jobs_wait(write->jobs, WAIT_MS) && rd_now_ms() < until_ms) continue;
  while (!rd_batches_wait(write->batches, true, WAIT_MS) && rd_now_ms() < until_ms) continue;
  rd_write_totals(write);
  if (rd_now_ms() < until_ms) (void)rd_batches_finish(write->batches);
}

// When no other thread writes: directories get their modes, unless the stream that says so cannot be trusted.
static void end_early(struct rd_write *write, struct rd_later *later) {
  struct rd_error ignored;
  bool is_trusted = write->error.code != RD_CODE_DATA_DAMAGED && write->error.code != RD_CODE_NOT_REQUESTED;
  if (later->top != NULL && is_trusted)
    (void)rd_directory_metadata_run(write, later->directories, later->top, &ignored);
  rd_write_totals(write);
}

// Until the end of the input: then all programs before this one have ended well. But a signal ends it too.
static bool follow(struct rd_write *write, const struct following *following, struct rd_error *error) {
  struct rd_own_view view = {.rank = write->settings->rank};
  struct rd_record record;
  while (!rd_stop_signals_have_come() && rd_stream_next(following->reader, &record, error)) {
    bool is_own;
    if (is_stopped(write, error) || !rd_own_view_take(&view, &record, &is_own, error)) return false;
    if (record.type == RD_RECORD_END) {
      atomic_fetch_add(&write->source_failures, record.end.failures);
      return rd_stream_finish(following->reader, error) && !rd_stop_signals_have_come();
    }
    if (is_own && !take(following, &record, error)) return false;
    rd_follower_progress(following->follower);
  }
  return false;
}

static bool take(const struct following *following, const struct rd_record *record, struct rd_error *error) {
  int directory = rd_follower_directory(following->follower);
  if (!rd_request_check(following->request, record, directory, error)) return false;
  rd_tally_add(following->tally, record);
  return rd_follower_take(following->follower, record, error);
}

// Where there was a compare.
static void report_decisions(const struct rd_write *write, const struct rd_tally *tally) {
  unsigned char digest[RD_DIGEST_TREE_BYTES];
  if (write->settings->alone || write->settings->role == RD_TREE_COPY) return;
  rd_tally_digest(tally, digest);
  rd_events_decisions(digest, rd_tally_dropped(tally), 0);
}

// The order: what a link names is there before it, nothing is removed before all is there, and what changes a
// directory comes before its times.
static bool finish(struct rd_write *write, struct rd_later *later, struct rd_error *error) {
  if (!wait_for_files(write, error)) return false;
  if (later->top != NULL) {
    if (!rd_links_run(write, later->links, later->top, error) || !wait_for_files(write, error) ||
        !remove_others(write, later, error))
      return false;
    rd_journal_remove(later->journal);
    later->journal = NULL;
    if (!rd_directory_metadata_run(write, later->directories, later->top, error)) return false;
  }
  return rd_batches_finish(write->batches) && !is_stopped(write, error);
}

static bool remove_others(struct rd_write *write, struct rd_later *later, struct rd_error *error) {
  if (atomic_load(&write->source_failures) == 0) return rd_removal_run(write, later->removals, later->top, error);
  if (!write->settings->remove) return true;
  rd_write_failed(write, -1, write->settings->target, 0,
                  "nothing was removed: the source could not be read completely");
  return true;
}

static bool wait_for_files(struct rd_write *write, struct rd_error *error) {
  while (!rd_jobs_wait(write->jobs, WAIT_MS) || !rd_batches_wait(write->batches, true, WAIT_MS)) {
    rd_write_progress(write, NULL, false);
    if (!has_signal(error)) continue;
    rd_write_cut(write, WRITE_WITHIN_MS);
    return false;
  }
  return !is_stopped(write, error);
}

static bool has_signal(struct rd_error *error) {
  if (!rd_stop_signals_have_come()) return false;
  rd_error_set(error, RD_CODE_ABORTED, "ended by a signal");
  return true;
}

static bool is_stopped(struct rd_write *write, struct rd_error *error) {
  if (!atomic_load(&write->is_stopped)) return false;
  pthread_mutex_lock(&write->lock);
  *error = write->error;
  pthread_mutex_unlock(&write->lock);
  return true;
}

static bool end_results(struct rd_stream_writer *results, const struct rd_write *write, struct rd_error *error) {
  if (results == NULL) return true;
  struct rd_record end = {.type = RD_RECORD_END,
                          .end = {write->totals.entries, write->totals.bytes, write->totals.failed}};
  return rd_stream_put(results, &end, error) && rd_stream_flush(results, error);
}
