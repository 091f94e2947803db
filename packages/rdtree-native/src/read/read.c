// SPDX-License-Identifier: Apache-2.0
#include "read/read.h"

#include "pattern/named.h"
#include "read/ahead.h"
#include "stream/stream_reader.h"

struct reading {
  struct rd_stream_writer *writer;
  struct rd_stream_reader *reader;
  struct rd_named *named;
  struct rd_ahead *ahead;
};

static bool pass_all(struct reading *reading, struct rd_error *error);
static bool take(struct reading *reading, const struct rd_record *record, struct rd_error *error);

bool rd_tree_read(const struct rd_tree_settings *settings, int in_fd, int out_fd, struct rd_shared_ring *shared,
                  struct rd_error *error) {
  struct reading reading = {.writer = rd_stream_writer_create(out_fd, RD_STREAM_CONTENTS)};
  struct rd_ring_writer *ring = shared != NULL ? rd_ring_writer_create(shared) : NULL;
  if (ring != NULL) rd_stream_write_to(reading.writer, ring);
  enum rd_stream_phase phase = settings->role == RD_TREE_SEND ? RD_STREAM_ENTRIES : RD_STREAM_DECISIONS;
  reading.reader = rd_stream_reader_create(in_fd, phase, reading.writer);
  rd_stream_expect_wants(reading.reader, settings->width);
  reading.named = rd_named_create(settings, error);
  reading.ahead = rd_ahead_create(rd_tree_threads(settings, true), reading.writer);
  bool is_done = reading.named != NULL && pass_all(&reading, error);
  rd_ahead_destroy(reading.ahead);
  rd_named_destroy(reading.named);
  rd_stream_reader_destroy(reading.reader);
  rd_stream_writer_destroy(reading.writer);
  rd_ring_writer_destroy(ring);
  return is_done;
}

static bool pass_all(struct reading *reading, struct rd_error *error) {
  struct rd_record record;
  do {
    // Files that are read ahead must not wait for further decisions of the target.
    if (!rd_stream_is_ready(reading->reader) && !rd_ahead_send_all(reading->ahead, error)) return false;
    if (!rd_stream_next(reading->reader, &record, error) || !rd_named_check(reading->named, &record, error) ||
        !take(reading, &record, error))
      return false;
  } while (record.type != RD_RECORD_END);
  return rd_stream_finish(reading->reader, error);
}

static bool take(struct reading *reading, const struct rd_record *record, struct rd_error *error) {
  if (record->type == RD_RECORD_END) return rd_ahead_end(reading->ahead, record, error);
  if (record->type == RD_RECORD_BLOCKS) {
    rd_ahead_keep_blocks(reading->ahead, record);
    return true;
  }
  if (record->type == RD_RECORD_FILE && (record->entry.want == RD_WANT_ALL || record->entry.want == RD_WANT_RESUME))
    return rd_ahead_add(reading->ahead, record, rd_named_directories(reading->named), error);
  return rd_ahead_pass(reading->ahead, record, error);
}
