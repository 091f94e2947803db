// SPDX-License-Identifier: Apache-2.0
// Tests the content of files in a ring and in a pipe. Bytes that a late reader has not taken are not overwritten.
// A file that is not in memory is read without the page cache.
#include "read/content.h"
#include "stream/stream_reader.h"

#include "base/direct_io.h"
#include "base/memory.h"
#include "base/page_cache.h"
#include "entry/metadata.h"
#include "stream_files.h"
#include "test.h"

#include <fcntl.h>
#include <pthread.h>
#include <sched.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

// More parts than are read ahead, together more than the ring holds.
enum { PARTS = 48, PART_BYTES = 64 << 10, STRIDE_BYTES = 2 * PART_BYTES, RING_BYTES = 1 << 20 };
enum { COLD_BYTES = (9 << 20) + 12345 };

static struct rd_error error;

struct sending {
  int file_fd, pipe_fd;
  struct rd_shared_ring *shared; // NULL: the bytes go to the pipe
  uint64_t bytes;                // of DATA
  bool is_sent;
};

static unsigned char letter_of(uint64_t offset) {
  return (unsigned char)(1 + offset / STRIDE_BYTES);
}

static int make_file(void) {
  int fd = memfd_create("content", MFD_CLOEXEC);
  unsigned char bytes[PART_BYTES];
  REQUIRE(fd >= 0 && ftruncate(fd, (off_t)PARTS * STRIDE_BYTES) == 0);
  for (uint64_t offset = 0; offset < (uint64_t)PARTS * STRIDE_BYTES; offset += STRIDE_BYTES) {
    memset(bytes, letter_of(offset), sizeof bytes);
    REQUIRE(pwrite(fd, bytes, sizeof bytes, (off_t)offset) == (ssize_t)sizeof bytes);
  }
  return fd;
}

static void *send_file(void *context) {
  struct sending *sending = context;
  struct rd_error why;
  struct rd_stream_writer *writer = rd_stream_writer_create(sending->pipe_fd, RD_STREAM_CONTENTS);
  struct rd_ring_writer *ring = sending->shared != NULL ? rd_ring_writer_create(sending->shared) : NULL;
  if (ring != NULL) rd_stream_write_to(writer, ring);
  struct rd_threads *threads = rd_threads_create(2);
  struct rd_read_content *content = rd_read_content_create(writer, threads);
  struct rd_wanted_file *file = rd_memory_new(1, sizeof *file);
  struct rd_record entry = {.type = RD_RECORD_FILE, .entry = {.name = rd_bytes_of("f"), .want = RD_WANT_ALL}};
  struct rd_record end = {.type = RD_RECORD_END};
  file->fd = sending->file_fd;
  REQUIRE(rd_status_of_fd(file->fd, &file->status));
  entry.entry.metadata = rd_metadata_of(&file->status);
  sending->is_sent = rd_stream_put(writer, &entry, &why) &&
                     rd_read_content_send(content, file, 0, &sending->bytes, &why) &&
                     rd_stream_put(writer, &end, &why) && rd_stream_flush(writer, &why);
  rd_shared_ring_destroy(sending->shared);
  close(sending->pipe_fd);
  rd_read_content_destroy(content);
  rd_threads_destroy(threads);
  rd_stream_writer_destroy(writer);
  rd_ring_writer_destroy(ring);
  free(file);
  return NULL;
}

static void wait_until_full(struct rd_shared_ring *shared) {
  while (rd_ring_room(rd_shared_ring_get(shared, &error)) > 2 * PART_BYTES) sched_yield();
}

static void check_data(const struct rd_record *record, uint64_t offset) {
  bool is_same = record->data.offset == offset && record->data.bytes.count == PART_BYTES;
  for (size_t i = 0; i < PART_BYTES && is_same; i++) is_same = record->data.bytes.at[i] == letter_of(offset);
  CHECK(is_same);
}

static void test_late_reader(void) {
  int ends[2];
  pthread_t thread;
  struct rd_record record;
  struct rd_ring_fds fds[2];
  REQUIRE(pipe2(ends, O_CLOEXEC) == 0 && rd_ring_fds_create(fds, &error));
  struct rd_shared_ring *shared = rd_shared_ring_open(RD_RING_READER, fds[0], &error);
  REQUIRE(shared != NULL && rd_shared_ring_make(shared, RING_BYTES, &error));
  struct sending sending = {
      .file_fd = make_file(), .pipe_fd = ends[1], .shared = rd_shared_ring_open(RD_RING_WRITER, fds[1], &error)};
  REQUIRE(sending.shared != NULL && pthread_create(&thread, NULL, send_file, &sending) == 0);
  wait_until_full(shared);
  struct rd_stream_reader *reader = rd_stream_reader_create(-1, RD_STREAM_CONTENTS, NULL);
  struct rd_ring_reader *ring = rd_ring_reader_create(shared, ends[0]);
  rd_stream_read_from(reader, ring);
  REQUIRE(rd_stream_next(reader, &record, &error) && record.type == RD_RECORD_FILE);
  for (uint64_t part = 0; part < PARTS; part++) {
    REQUIRE(rd_stream_next(reader, &record, &error) && record.type == RD_RECORD_DATA);
    check_data(&record, part * STRIDE_BYTES);
  }
  CHECK(rd_stream_next(reader, &record, &error) && record.file_end.state == RD_FILE_WHOLE);
  CHECK(rd_stream_next(reader, &record, &error) && record.type == RD_RECORD_END);
  pthread_join(thread, NULL);
  CHECK(sending.is_sent && sending.bytes == (uint64_t)PARTS * PART_BYTES);
  rd_stream_reader_destroy(reader);
  rd_ring_reader_destroy(ring);
  rd_shared_ring_destroy(shared);
  close(ends[0]);
  close(sending.file_fd);
}

// A part in the middle is in memory.
static int make_cold_file(void) {
  static unsigned char block[64 << 10];
  write_source(COLD_BYTES);
  int fd = open(source_path, O_RDONLY | O_CLOEXEC);
  REQUIRE(fd >= 0 && fsync(fd) == 0 && posix_fadvise(fd, 0, 0, POSIX_FADV_DONTNEED) == 0);
  REQUIRE(posix_fadvise(fd, 0, 0, POSIX_FADV_RANDOM) == 0); // without read-ahead
  for (off_t at = 4 << 20; at < 5 << 20; at += (off_t)sizeof block) REQUIRE(pread(fd, block, sizeof block, at) > 0);
  return fd;
}

static void test_cold_file(void) {
  int ends[2];
  pthread_t thread;
  struct rd_record record;
  struct rd_direct_io needs;
  unsigned char *seen = rd_memory_new(COLD_BYTES, 1), *expected = rd_memory_new(COLD_BYTES, 1);
  size_t have = 0;
  make_stream_files("content");
  REQUIRE(pipe2(ends, O_CLOEXEC) == 0);
  struct sending sending = {.file_fd = make_cold_file(), .pipe_fd = ends[1]};
  REQUIRE(pthread_create(&thread, NULL, send_file, &sending) == 0);
  struct rd_stream_reader *reader = rd_stream_reader_create(ends[0], RD_STREAM_CONTENTS, NULL);
  REQUIRE(rd_stream_next(reader, &record, &error) && record.type == RD_RECORD_FILE);
  while (rd_stream_next(reader, &record, &error) && record.type == RD_RECORD_DATA) {
    struct rd_bytes data = record.data.bytes;
    REQUIRE(record.data.offset == have && data.count <= COLD_BYTES - have);
    memcpy(seen + have, data.at, data.count);
    have += data.count;
  }
  CHECK(record.type == RD_RECORD_FILE_END && record.file_end.state == RD_FILE_WHOLE && have == COLD_BYTES);
  CHECK(rd_stream_next(reader, &record, &error) && record.type == RD_RECORD_END);
  pthread_join(thread, NULL);
  CHECK(sending.is_sent && sending.bytes == COLD_BYTES);
  bool is_direct = rd_direct_io_needs(sending.file_fd, &needs);
  for (int mib = 0; mib < 9; mib++)
    CHECK(!is_direct || mib == 4 || !rd_page_cache_has(sending.file_fd, (off_t)mib << 20, 1 << 20));
  CHECK(pread(sending.file_fd, expected, COLD_BYTES, 0) == COLD_BYTES && memcmp(seen, expected, COLD_BYTES) == 0);
  rd_stream_reader_destroy(reader);
  close(ends[0]);
  close(sending.file_fd);
  free(seen);
  free(expected);
  remove_stream_files();
}

int main(void) {
  test_late_reader();
  test_cold_file();
  return test_end("rdtree content");
}
