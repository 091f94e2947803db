// SPDX-License-Identifier: Apache-2.0
// Tests the content of files in a pipe that its reader empties late: memory that the pipe refers to is not used again.
#include "read/content.h"
#include "stream/stream_reader.h"

#include "base/memory.h"
#include "entry/metadata.h"
#include "test.h"

#include <fcntl.h>
#include <poll.h>
#include <pthread.h>
#include <sched.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

// More parts than are read ahead, each long enough to be lent, together more than a pipe holds.
enum { PARTS = 48, PART_BYTES = 64 << 10, STRIDE_BYTES = 2 * PART_BYTES, PIPE_BYTES = 1 << 20 };

static struct rd_error error;

struct sending {
  int file_fd, pipe_fd;
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
  uint64_t bytes = 0;
  struct rd_stream_writer *writer = rd_stream_writer_create(sending->pipe_fd, RD_STREAM_CONTENTS);
  struct rd_threads *threads = rd_threads_create(2);
  struct rd_read_content *content = rd_read_content_create(writer, threads);
  struct rd_wanted_file *file = rd_memory_new(1, sizeof *file);
  struct rd_record entry = {.type = RD_RECORD_FILE, .entry = {.name = rd_bytes_of("f"), .want = RD_WANT_ALL}};
  struct rd_record end = {.type = RD_RECORD_END};
  file->fd = sending->file_fd;
  REQUIRE(rd_status_of_fd(file->fd, &file->status));
  entry.entry.metadata = rd_metadata_of(&file->status);
  sending->is_sent = rd_stream_put(writer, &entry, &why) && rd_read_content_send(content, file, 0, &bytes, &why) &&
                     rd_stream_put(writer, &end, &why) && rd_stream_flush(writer, &why) &&
                     bytes == (uint64_t)PARTS * PART_BYTES;
  close(sending->pipe_fd);
  rd_read_content_destroy(content);
  rd_threads_destroy(threads);
  rd_stream_writer_destroy(writer);
  free(file);
  return NULL;
}

static void wait_until_full(int pipe_fd) {
  struct pollfd writable = {.fd = pipe_fd, .events = POLLOUT};
  while (poll(&writable, 1, 0) == 1) sched_yield();
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
  REQUIRE(pipe2(ends, O_CLOEXEC) == 0 && fcntl(ends[1], F_SETPIPE_SZ, PIPE_BYTES) > 0);
  struct sending sending = {.file_fd = make_file(), .pipe_fd = ends[1]};
  REQUIRE(pthread_create(&thread, NULL, send_file, &sending) == 0);
  wait_until_full(ends[1]);
  struct rd_stream_reader *reader = rd_stream_reader_create(ends[0], RD_STREAM_CONTENTS, NULL);
  REQUIRE(rd_stream_next(reader, &record, &error) && record.type == RD_RECORD_FILE);
  for (uint64_t part = 0; part < PARTS; part++) {
    REQUIRE(rd_stream_next(reader, &record, &error) && record.type == RD_RECORD_DATA);
    check_data(&record, part * STRIDE_BYTES);
  }
  CHECK(rd_stream_next(reader, &record, &error) && record.file_end.state == RD_FILE_WHOLE);
  CHECK(rd_stream_next(reader, &record, &error) && record.type == RD_RECORD_END);
  pthread_join(thread, NULL);
  CHECK(sending.is_sent);
  rd_stream_reader_destroy(reader);
  close(ends[0]);
  close(sending.file_fd);
}

int main(void) {
  test_late_reader();
  return test_end("rdtree content");
}
