// SPDX-License-Identifier: Apache-2.0
// Tests of files as sinks: frames of all sizes, with and without the page cache, failing writes.
#include "sink/sink.h"

#include "base/direct_io.h"
#include "base/page_cache.h"
#include "base/pages.h"
#include "stream_files.h"
#include "test.h"

#include <signal.h>
#include <sys/resource.h>
#include <sys/wait.h>

#define MIB (1u << 20)
#define BYTES_MAX (5 * MIB)

static struct rd_error error;
static atomic_bool stop;
static unsigned char *bytes; // page-aligned, BYTES_MAX
static bool is_direct;       // the file system of the suite's files supports direct I/O

static struct rd_sink *open_sink(bool append) {
  struct rd_sink *sink = rd_sink_open(sink_path, append, &error);
  REQUIRE(sink != NULL);
  return sink;
}

// Writes frames that are page-aligned, as the slots of a transport are, or not.
static bool write_frames(struct rd_sink *sink, size_t total, size_t frame_bytes) {
  for (size_t done = 0; done < total;) {
    size_t count = total - done < frame_bytes ? total - done : frame_bytes;
    if (!rd_sink_write(sink, bytes + done, count, &stop, &error)) return false;
    done += count;
  }
  return rd_sink_write(sink, NULL, 0, &stop, &error);
}

// Returns true if the file contains `before` times 'x', then the stream.
static bool holds(size_t before, size_t total) {
  int fd = open(sink_path, O_RDONLY | O_CLOEXEC);
  unsigned char *seen = malloc(before + total + 1);
  REQUIRE(fd >= 0 && seen != NULL);
  size_t have = 0;
  for (ssize_t got; (got = rd_read_some(fd, seen + have, before + total + 1 - have)) > 0;) have += (size_t)got;
  bool same = have == before + total && memcmp(seen + before, bytes, total) == 0;
  for (size_t i = 0; same && i < before; i++) same = seen[i] == 'x';
  free(seen);
  close(fd);
  return same;
}

static bool is_cached(size_t at) {
  int fd = open(sink_path, O_RDONLY | O_CLOEXEC);
  REQUIRE(fd >= 0);
  bool cached = rd_page_cache_has(fd, (off_t)at, MIB);
  close(fd);
  return cached;
}

static void write_old(size_t count) {
  int fd = open(sink_path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0640);
  REQUIRE(fd >= 0);
  for (size_t i = 0; i < count; i++) REQUIRE(rd_write_all(fd, "x", 1));
  close(fd);
}

static void test_sizes(void) {
  static const size_t totals[] = {0,       1,   511,     512,       4096,           4097,
                                  MIB - 1, MIB, MIB + 1, MIB + 512, 3 * MIB + 4097, 5 * MIB};
  static const size_t frames[] = {MIB, MIB / 4, 65536, 65536 + 3, 700001};
  for (size_t t = 0; t < sizeof totals / sizeof *totals; t++)
    for (size_t f = 0; f < sizeof frames / sizeof *frames; f++) {
      struct rd_sink *sink = open_sink(false);
      CHECK(write_frames(sink, totals[t], frames[f]) && rd_sink_commit(sink, &error));
      rd_sink_destroy(sink);
      CHECK(holds(0, totals[t]));
    }
}

static void test_past_the_cache(void) {
  struct rd_sink *sink = open_sink(false);
  CHECK(write_frames(sink, 4 * MIB + 3, MIB) && rd_sink_commit(sink, &error));
  rd_sink_destroy(sink);
  for (size_t mib = 0; mib < 4; mib++) CHECK(!is_direct || !is_cached(mib * MIB));
  CHECK(holds(0, 4 * MIB + 3));
}

// Frames of one line each.
static void test_small_frames(void) {
  struct rd_sink *sink = open_sink(false);
  CHECK(write_frames(sink, MIB + MIB / 2, 61) && rd_sink_commit(sink, &error));
  rd_sink_destroy(sink);
  CHECK(holds(0, MIB + MIB / 2));
}

static void test_append(void) {
  write_old(7);
  struct rd_sink *sink = open_sink(true);
  CHECK(rd_sink_write(sink, bytes, 100, &stop, &error) && holds(7, 100)); // visible immediately
  CHECK(rd_sink_write(sink, bytes + 100, 3 * MIB - 100, &stop, &error) && rd_sink_commit(sink, &error));
  rd_sink_destroy(sink);
  CHECK(holds(7, 3 * MIB));
  write_old(7);
  sink = open_sink(true);
  CHECK(write_frames(sink, 2 * MIB, MIB));
  rd_sink_destroy(sink);
  CHECK(holds(7, 0));
}

// Writes like a shell's `> file`, from the middle of the file: many times the amount that one write-back sends.
static void test_inherited(void) {
  write_old(7);
  int fd = open(sink_path, O_WRONLY | O_CLOEXEC);
  CHECK(lseek(fd, 7, SEEK_SET) == 7);
  struct rd_sink *sink = rd_sink_from_fd(fd);
  REQUIRE(sink != NULL);
  for (int i = 0; i < 5; i++) CHECK(write_frames(sink, BYTES_MAX, MIB));
  CHECK(rd_sink_commit(sink, &error) && lseek(fd, 0, SEEK_CUR) == 7 + 5 * (off_t)BYTES_MAX);
  rd_sink_destroy(sink);
  CHECK(ftruncate(fd, 7 + BYTES_MAX) == 0 && holds(7, BYTES_MAX));
  close(fd);
}

static void test_mode(void) {
  write_old(7);
  REQUIRE(chmod(sink_path, 0604) == 0);
  struct rd_sink *sink = open_sink(false);
  CHECK(write_frames(sink, 2 * MIB + 1, MIB) && holds(7, 0) && rd_sink_commit(sink, &error));
  rd_sink_destroy(sink);
  struct stat status;
  CHECK(holds(0, 2 * MIB + 1) && stat(sink_path, &status) == 0 && (status.st_mode & 07777) == 0604);
}

static void test_abandoned(void) {
  write_old(7);
  struct rd_sink *sink = open_sink(false);
  CHECK(write_frames(sink, 2 * MIB + 1, MIB));
  rd_sink_destroy(sink);
  CHECK(holds(7, 0));
  sink = open_sink(false);
  stop = true;
  CHECK(!write_frames(sink, 2 * MIB, MIB) && error.code == RD_CODE_ABORTED);
  stop = false;
  rd_sink_destroy(sink);
  CHECK(holds(7, 0));
}

// Fails when written, or at the latest when committed, and leaves nothing of the new file.
static void check_unwritable(size_t total, size_t frame_bytes, const char *why) {
  struct rd_sink *sink = open_sink(false);
  CHECK(!write_frames(sink, total, frame_bytes) || !rd_sink_commit(sink, &error));
  CHECK(error.code == RD_CODE_SINK_UNWRITABLE && strstr(error.message, why) != NULL);
  rd_sink_destroy(sink);
  CHECK(holds(7, 0));
}

static void test_limit(rlim_t limit_bytes) {
  write_old(7);
  pid_t limited = fork();
  if (limited == 0) {
    signal(SIGXFSZ, SIG_IGN);
    REQUIRE(setrlimit(RLIMIT_FSIZE, &(struct rlimit){limit_bytes, limit_bytes}) == 0);
    check_unwritable(3 * MIB, MIB, "file too large");
    check_unwritable(3 * MIB, 70001, "file too large");
    check_unwritable(MIB / 2, MIB, "file too large");
    _exit(test_failures > 0);
  }
  int status = -1;
  CHECK(waitpid(limited, &status, 0) == limited && status == 0);
}

static void prepare(void) {
  make_stream_files("file-sink");
  bytes = rd_pages_allocate(BYTES_MAX);
  REQUIRE(bytes != NULL);
  uint64_t state = 1;
  for (size_t i = 0; i < BYTES_MAX; i++)
    state = state * 6364136223846793005u + 1, bytes[i] = (unsigned char)(state >> 56);
  int fd = open(directory, O_TMPFILE | O_WRONLY | O_CLOEXEC, 0600);
  struct rd_direct_io needs;
  is_direct = fd >= 0 && rd_direct_io_needs(fd, &needs);
  close(fd);
}

int main(void) {
  prepare();
  test_sizes();
  test_past_the_cache();
  test_small_frames();
  test_append();
  test_inherited();
  test_mode();
  test_abandoned();
  test_limit(4096);
  test_limit(1000);
  test_limit(MIB / 4 + 1);
  remove_stream_files();
  free(bytes);
  return test_end("file sink");
}
