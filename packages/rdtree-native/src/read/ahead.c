// SPDX-License-Identifier: Apache-2.0
#include "read/ahead.h"

#include "base/memory.h"
#include "entry/metadata.h"
#include "read/blocks.h"
#include "read/content.h"
#include "report/events.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define FILES_AHEAD 128u
#define BYTES_AHEAD (16u << 20)
#define RECORDS_BYTES (256u << 10) // that wait after one file

struct rd_ahead {
  struct rd_stream_writer *writer;
  struct rd_threads *threads;
  struct rd_read_content *content;
  struct rd_wanted_file files[FILES_AHEAD];
  size_t first, count;
  size_t bytes; // that they may take: contents of small files, and digests
  bool has_blocks;
  struct rd_record blocks; // of the next file
  unsigned char *digests;
  struct rd_tree_totals totals;
};

static struct rd_wanted_file *file_at(struct rd_ahead *ahead, size_t index);
static size_t bytes_of(const struct rd_wanted_file *file);
static void fill(struct rd_ahead *ahead, struct rd_wanted_file *file, const struct rd_record *record,
                 struct rd_source_dirs *directories);
static void run(struct rd_read_job *job);
static bool send_first(struct rd_ahead *ahead, struct rd_error *error);
static bool send_file(struct rd_ahead *ahead, struct rd_wanted_file *file, struct rd_error *error);
static void refresh(struct rd_wanted_file *file);
static bool send_head(struct rd_ahead *ahead, struct rd_wanted_file *file, uint64_t *from, struct rd_error *error);
static void report(struct rd_ahead *ahead, const struct rd_wanted_file *file);

struct rd_ahead *rd_ahead_create(unsigned threads, struct rd_stream_writer *writer) {
  struct rd_ahead *ahead = rd_memory_new(1, sizeof *ahead);
  ahead->writer = writer;
  ahead->threads = rd_threads_create(threads);
  ahead->content = rd_read_content_create(writer, ahead->threads);
  for (size_t i = 0; i < FILES_AHEAD; i++) ahead->files[i].fd = -1;
  return ahead;
}

void rd_ahead_destroy(struct rd_ahead *ahead) {
  if (ahead == NULL) return;
  rd_threads_destroy(ahead->threads);
  rd_read_content_destroy(ahead->content);
  for (size_t i = 0; i < FILES_AHEAD; i++) {
    rd_wanted_file_clear(&ahead->files[i]);
    free(ahead->files[i].bytes);
    free(ahead->files[i].after);
  }
  free(ahead->digests);
  free(ahead);
}

void rd_ahead_keep_blocks(struct rd_ahead *ahead, const struct rd_record *record) {
  struct rd_bytes from = record->blocks.digests;
  free(ahead->digests);
  ahead->digests = (unsigned char *)rd_memory_copy((const char *)from.at, from.count);
  ahead->blocks = *record;
  ahead->blocks.blocks.digests.at = ahead->digests;
  ahead->has_blocks = true;
}

bool rd_ahead_add(struct rd_ahead *ahead, const struct rd_record *record, struct rd_source_dirs *directories,
                  struct rd_error *error) {
  // In bursts: to wake a thread for each file would take longer than the file.
  bool is_full = ahead->count == FILES_AHEAD || ahead->bytes > BYTES_AHEAD;
  size_t files = ahead->count, bytes = ahead->bytes;
  while (is_full && (ahead->count > files / 2 || ahead->bytes > bytes / 2))
    if (!send_first(ahead, error)) return false;
  struct rd_wanted_file *file = file_at(ahead, ahead->count++);
  fill(ahead, file, record, directories);
  ahead->bytes += bytes_of(file);
  if (record->entry.size <= RD_SMALL_FILE_BYTES && file->directory != NULL)
    rd_threads_submit(ahead->threads, &file->job);
  return true;
}

bool rd_ahead_pass(struct rd_ahead *ahead, const struct rd_record *record, struct rd_error *error) {
  if (ahead->count > 0 && file_at(ahead, ahead->count - 1)->after_bytes > RECORDS_BYTES &&
      !rd_ahead_send_all(ahead, error))
    return false;
  if (ahead->count == 0) return rd_stream_put(ahead->writer, record, error);
  struct rd_wanted_file *last = file_at(ahead, ahead->count - 1);
  size_t bound = last->after_bytes + rd_record_bound(record);
  if (last->after_room < bound) last->after = rd_memory_resize(last->after, last->after_room = 2 * bound, 1);
  last->after_bytes += rd_record_encode(record, last->after + last->after_bytes);
  return true;
}

bool rd_ahead_send_all(struct rd_ahead *ahead, struct rd_error *error) {
  while (ahead->count > 0)
    if (!send_first(ahead, error)) return false;
  return true;
}

bool rd_ahead_end(struct rd_ahead *ahead, const struct rd_record *record, struct rd_error *error) {
  if (!rd_ahead_send_all(ahead, error)) return false;
  struct rd_record end = *record;
  end.end.failures += ahead->totals.failed;
  if (!rd_stream_put(ahead->writer, &end, error)) return false;
  rd_events_progress(&ahead->totals, NULL, true);
  return true;
}

static struct rd_wanted_file *file_at(struct rd_ahead *ahead, size_t index) {
  return &ahead->files[(ahead->first + index) % FILES_AHEAD];
}

static size_t bytes_of(const struct rd_wanted_file *file) {
  uint64_t size = file->expected;
  return (size <= RD_SMALL_FILE_BYTES ? (size_t)size : 0) + file->blocks.blocks.digests.count;
}

static void fill(struct rd_ahead *ahead, struct rd_wanted_file *file, const struct rd_record *record,
                 struct rd_source_dirs *directories) {
  struct rd_bytes name = record->entry.name;
  const char *shown = rd_source_dirs_shown(directories, name);
  file->shown = rd_memory_copy(shown, strlen(shown));
  memcpy(file->name, name.at, name.count);
  file->name[name.count] = '\0';
  file->record = *record;
  file->record.entry.name.at = (const unsigned char *)file->name;
  file->expected = record->entry.size;
  file->directory = rd_source_dirs_keep(directories);
  if (file->directory == NULL) file->number = errno;
  file->job.run = run;
  file->job.state = RD_READ_JOB_DONE;
  if (!ahead->has_blocks) return;
  file->blocks = ahead->blocks;
  file->digests = ahead->digests;
  ahead->digests = NULL;
  ahead->has_blocks = false;
}

static void run(struct rd_read_job *job) {
  rd_wanted_file_read((struct rd_wanted_file *)(void *)job); // its first field
}

static bool send_first(struct rd_ahead *ahead, struct rd_error *error) {
  struct rd_wanted_file *file = file_at(ahead, 0);
  bool is_submitted = file->expected <= RD_SMALL_FILE_BYTES && file->directory != NULL;
  if (is_submitted)
    rd_threads_wait(ahead->threads, &file->job);
  else
    rd_wanted_file_read(file);
  if (!send_file(ahead, file, error)) return false;
  if (!rd_stream_put_encoded(ahead->writer, file->after, file->after_bytes, error)) return false;
  ahead->bytes -= bytes_of(file);
  ahead->first = (ahead->first + 1) % FILES_AHEAD;
  ahead->count--;
  rd_wanted_file_clear(file);
  return true;
}

static bool send_file(struct rd_ahead *ahead, struct rd_wanted_file *file, struct rd_error *error) {
  uint64_t from;
  if (!rd_wanted_file_has_failed(file)) refresh(file);
  if (!send_head(ahead, file, &from, error)) return false;
  bool is_sent;
  if (file->is_read) {
    ahead->totals.sent_bytes += file->count;
    is_sent = rd_read_content_send_whole(ahead->content, file, error);
  } else if (rd_wanted_file_has_failed(file)) {
    is_sent = rd_read_content_drop(ahead->content, file, error);
  } else {
    is_sent = rd_read_content_send(ahead->content, file, from, &ahead->totals.sent_bytes, error);
  }
  report(ahead, file);
  return is_sent;
}

// Since it was scanned it may have changed.
static void refresh(struct rd_wanted_file *file) {
  struct rd_entry *entry = &file->record.entry;
  struct rd_metadata now = rd_metadata_of(&file->status);
  bool is_same = entry->size == file->status.stx_size && entry->metadata.mtime_s == now.mtime_s &&
                 entry->metadata.mtime_ns == now.mtime_ns;
  if (!is_same) entry->has_digest = false;
  entry->size = file->status.stx_size;
  entry->metadata.mtime_s = now.mtime_s;
  entry->metadata.mtime_ns = now.mtime_ns;
}

// BLOCKS, if the target gave some, and FILE. *from: where its content begins that the target has not.
static bool send_head(struct rd_ahead *ahead, struct rd_wanted_file *file, uint64_t *from, struct rd_error *error) {
  *from = 0;
  if (file->record.entry.want == RD_WANT_RESUME) {
    struct rd_record blocks = file->blocks;
    uint64_t same = rd_wanted_file_has_failed(file) ? 0 : rd_blocks_verify(ahead->threads, file);
    *from = blocks.blocks.bytes = same * blocks.blocks.block_bytes;
    blocks.blocks.digests.count = same * RD_DIGEST_TREE_BYTES;
    if (!rd_stream_put(ahead->writer, &blocks, error)) return false;
  }
  return rd_stream_put(ahead->writer, &file->record, error);
}

static void report(struct rd_ahead *ahead, const struct rd_wanted_file *file) {
  struct rd_tree_totals *totals = &ahead->totals;
  if (!rd_wanted_file_has_failed(file)) {
    totals->entries++;
    totals->files++;
    totals->bytes += file->status.stx_size;
  } else {
    totals->failed++;
    bool has_vanished = file->number == ENOENT;
    if (file->reason != NULL)
      rd_events_failed(file->shown, 0, file->reason);
    else
      rd_events_failed(file->shown, file->number, has_vanished ? "vanished" : "cannot read");
  }
  rd_events_progress(totals, file->shown, false);
}
