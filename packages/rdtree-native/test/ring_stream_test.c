// SPDX-License-Identifier: Apache-2.0
// Tests of tree streams in a ring: contents of files stay where they are, all else is copied before it is checked.
#include "stream/stream_reader.h"

#include "base/cleanup.h"
#include "base/memory.h"
#include "test.h"

#include <fcntl.h>
#include <pthread.h>
#include <sched.h>
#include <string.h>
#include <sys/stat.h>

enum { CAPACITY = 4 << 20, PART_BYTES = 1 << 20, PARTS = 19 };

static struct rd_error error;

// A stream between two threads: a pipe, in which no bytes come, and a ring.
struct joined {
  int ends[2];
  struct rd_shared_ring *sides[2];
  struct rd_ring_writer *to;
  struct rd_ring_reader *from;
  struct rd_stream_writer *writer;
  struct rd_stream_reader *reader;
};

static void join(struct joined *joined) {
  struct rd_ring_fds fds[2];
  REQUIRE(pipe2(joined->ends, O_CLOEXEC) == 0 && rd_ring_fds_create(fds, &error));
  for (int side = 0; side < 2; side++)
    REQUIRE((joined->sides[side] = rd_shared_ring_open((enum rd_ring_side)side, fds[side], &error)) != NULL);
  REQUIRE(rd_shared_ring_make(joined->sides[RD_RING_READER], CAPACITY, &error));
  joined->to = rd_ring_writer_create(joined->sides[RD_RING_WRITER]);
  joined->from = rd_ring_reader_create(joined->sides[RD_RING_READER], joined->ends[0]);
  joined->writer = rd_stream_writer_create(-1, RD_STREAM_CONTENTS);
  joined->reader = rd_stream_reader_create(-1, RD_STREAM_CONTENTS, NULL);
  rd_stream_write_to(joined->writer, joined->to);
  rd_stream_read_from(joined->reader, joined->from);
}

static void close_writer(struct joined *joined) {
  rd_stream_writer_destroy(joined->writer);
  rd_ring_writer_destroy(joined->to);
  rd_shared_ring_destroy(joined->sides[RD_RING_WRITER]);
  rd_cleanup_fd(&joined->ends[1]);
}

static void close_reader(struct joined *joined) {
  rd_stream_reader_destroy(joined->reader);
  rd_ring_reader_destroy(joined->from);
  rd_shared_ring_destroy(joined->sides[RD_RING_READER]);
  rd_cleanup_fd(&joined->ends[0]);
}

static bool next_is(struct joined *joined, struct rd_record *record, enum rd_record_type type) {
  return rd_stream_next(joined->reader, record, &error) && record->type == type;
}

static struct rd_record file_named(const char *name) {
  return (struct rd_record){.type = RD_RECORD_FILE,
                            .entry = {.name = rd_bytes_of(name), .metadata = {.mode = S_IFREG}}};
}

static struct rd_record whole(void) {
  return (struct rd_record){.type = RD_RECORD_FILE_END, .file_end = {RD_FILE_WHOLE, .size = PARTS * PART_BYTES}};
}

static unsigned char byte_of(unsigned part) {
  return (unsigned char)('a' + part);
}

// Reserves parts as far as there is room, and commits the oldest one.
static bool send_parts(struct rd_stream_writer *writer, struct rd_error *why) {
  struct rd_reserved reserved[PARTS];
  unsigned made = 0;
  for (unsigned part = 0; part < PARTS; part++) {
    for (; made < PARTS; made++) {
      if (!rd_stream_reserve(writer, (uint64_t)made * PART_BYTES, PART_BYTES, &reserved[made], why)) return false;
      if (reserved[made].bytes == NULL) break;
      CHECK((uintptr_t)reserved[made].bytes % RD_RECORD_ALIGN_BYTES == 0);
      memset(reserved[made].bytes, byte_of(made), PART_BYTES);
    }
    CHECK(made > part && made - part < 4);
    rd_stream_commit(writer, &reserved[part]);
  }
  return true;
}

static void *send_all(void *context) {
  struct joined *joined = context;
  struct rd_error why;
  struct rd_record file = file_named("f"), end = {.type = RD_RECORD_END}, file_end = whole();
  bool is_sent = rd_stream_put(joined->writer, &file, &why) && send_parts(joined->writer, &why) &&
                 rd_stream_put(joined->writer, &file_end, &why) && rd_stream_put(joined->writer, &end, &why) &&
                 rd_stream_flush(joined->writer, &why);
  close_writer(joined);
  return is_sent ? joined : NULL;
}

static bool is_part(struct rd_bytes bytes, unsigned part) {
  bool is_right = bytes.count == PART_BYTES && (uintptr_t)bytes.at % RD_RECORD_ALIGN_BYTES == 0;
  for (size_t i = 0; i < bytes.count && is_right; i++) is_right = bytes.at[i] == byte_of(part);
  return is_right;
}

// Bytes that are held do not change until they are given back, here in the opposite order.
static void test_holds(void) {
  struct joined joined;
  pthread_t thread;
  struct rd_record record;
  join(&joined);
  REQUIRE(pthread_create(&thread, NULL, send_all, &joined) == 0);
  REQUIRE(next_is(&joined, &record, RD_RECORD_FILE) && rd_stream_hold(joined.reader) == NULL);
  struct rd_bytes held[2] = {0};
  struct rd_ring_hold *holds[2] = {0};
  for (unsigned part = 0; part < PARTS; part++) {
    REQUIRE(next_is(&joined, &record, RD_RECORD_DATA) && record.data.offset == (uint64_t)part * PART_BYTES);
    held[part % 2] = record.data.bytes;
    REQUIRE((holds[part % 2] = rd_stream_hold(joined.reader)) != NULL && rd_stream_hold(joined.reader) == NULL);
    if (part % 2 == 0) continue;
    CHECK(is_part(held[1], part) && is_part(held[0], part - 1));
    rd_ring_hold_give_back(holds[1]);
    rd_ring_hold_give_back(holds[0]);
  }
  CHECK(is_part(held[(PARTS - 1) % 2], PARTS - 1));
  rd_ring_hold_give_back(holds[(PARTS - 1) % 2]);
  CHECK(next_is(&joined, &record, RD_RECORD_FILE_END) && next_is(&joined, &record, RD_RECORD_END));
  CHECK(rd_stream_finish(joined.reader, &error));
  void *is_sent;
  pthread_join(thread, &is_sent);
  CHECK(is_sent != NULL);
  close_reader(&joined);
}

// Bytes that are not held are used until the next record.
static void test_without_holds(void) {
  struct joined joined;
  pthread_t thread;
  struct rd_record record;
  join(&joined);
  REQUIRE(pthread_create(&thread, NULL, send_all, &joined) == 0);
  REQUIRE(next_is(&joined, &record, RD_RECORD_FILE));
  for (unsigned part = 0; part < PARTS; part++)
    CHECK(next_is(&joined, &record, RD_RECORD_DATA) && is_part(record.data.bytes, part));
  CHECK(next_is(&joined, &record, RD_RECORD_FILE_END) && next_is(&joined, &record, RD_RECORD_END));
  pthread_join(thread, NULL);
  close_reader(&joined);
}

static void test_cancelled(void) {
  struct joined joined;
  struct rd_reserved reserved[2];
  struct rd_record record = file_named("f");
  join(&joined);
  REQUIRE(rd_stream_put(joined.writer, &record, &error));
  for (int i = 0; i < 2; i++)
    REQUIRE(rd_stream_reserve(joined.writer, (uint64_t)i * PART_BYTES, PART_BYTES, &reserved[i], &error));
  memset(reserved[0].bytes, byte_of(0), PART_BYTES);
  rd_stream_commit(joined.writer, &reserved[0]);
  rd_stream_cancel(joined.writer);
  record = whole();
  REQUIRE(rd_stream_put(joined.writer, &record, &error) && rd_stream_flush(joined.writer, &error));
  CHECK(next_is(&joined, &record, RD_RECORD_FILE) && next_is(&joined, &record, RD_RECORD_DATA));
  CHECK(is_part(record.data.bytes, 0) && next_is(&joined, &record, RD_RECORD_FILE_END));
  close_writer(&joined);
  CHECK(!rd_stream_next(joined.reader, &record, &error) && error.code == RD_CODE_PEER_LOST);
  close_reader(&joined);
}

// rdsend is there, but has no connection so far.
static void *make_late(void *context) {
  struct joined *joined = context;
  struct rd_error why;
  for (int i = 0; i < 1000; i++) sched_yield();
  return rd_shared_ring_make(joined->sides[RD_RING_READER], CAPACITY, &why) ? joined : NULL;
}

static void test_made_late(void) {
  struct joined joined;
  struct rd_ring_fds fds[2];
  pthread_t thread;
  struct rd_record record = file_named("f");
  REQUIRE(rd_ring_fds_create(fds, &error));
  for (int side = 0; side < 2; side++)
    REQUIRE((joined.sides[side] = rd_shared_ring_open((enum rd_ring_side)side, fds[side], &error)) != NULL);
  joined.to = rd_ring_writer_create(joined.sides[RD_RING_WRITER]);
  joined.writer = rd_stream_writer_create(-1, RD_STREAM_CONTENTS);
  rd_stream_write_to(joined.writer, joined.to);
  REQUIRE(pthread_create(&thread, NULL, make_late, &joined) == 0);
  CHECK(rd_stream_put(joined.writer, &record, &error) && rd_stream_flush(joined.writer, &error));
  pthread_join(thread, NULL);
  rd_shared_ring_destroy(joined.sides[RD_RING_READER]); // gone
  CHECK(rd_stream_put(joined.writer, &record, &error));
  struct rd_reserved reserved;
  bool is_good = true;
  for (int i = 0; i < 9 && is_good; i++) {
    is_good = rd_stream_reserve(joined.writer, 0, PART_BYTES, &reserved, &error);
    if (is_good) rd_stream_commit(joined.writer, &reserved);
  }
  CHECK(!is_good && error.code == RD_CODE_CLOSED);
  joined.ends[1] = -1;
  close_writer(&joined);
}

// rdrecv changes the ring after a record was checked, and gives other lengths than it should.
static void test_changed_afterwards(void) {
  struct joined joined;
  struct rd_record record = file_named("f"), damaged;
  join(&joined);
  REQUIRE(rd_stream_put(joined.writer, &record, &error) && rd_stream_flush(joined.writer, &error));
  REQUIRE(next_is(&joined, &record, RD_RECORD_FILE));
  RD_AUTO_FREE char *name = rd_memory_copy((const char *)record.entry.name.at, record.entry.name.count);
  memset(rd_shared_ring_at(joined.sides[RD_RING_WRITER], 0), '/', 4096);
  CHECK(memcmp(record.entry.name.at, name, record.entry.name.count) == 0);
  static const uint32_t payloads[] = {RD_RECORD_MAX_BYTES + 1, UINT32_MAX, RD_RECORD_DATA_MAX_BYTES + 9};
  const uint32_t type = RD_RECORD_DATA;
  unsigned char *head = rd_ring_writer_reserve(joined.to, 2 * PART_BYTES, &error);
  rd_ring_writer_fill(joined.to, 2 * PART_BYTES);
  memcpy(head + 4, &type, sizeof type);
  for (size_t i = 0; i < sizeof payloads / sizeof *payloads; i++) {
    memcpy(head, &payloads[i], sizeof payloads[i]);
    CHECK(!rd_stream_next(joined.reader, &damaged, &error) && error.code == RD_CODE_DATA_DAMAGED);
  }
  close_writer(&joined);
  close_reader(&joined);
}

int main(void) {
  test_holds();
  test_without_holds();
  test_cancelled();
  test_made_late();
  test_changed_afterwards();
  return test_end("rdtree ring stream");
}
