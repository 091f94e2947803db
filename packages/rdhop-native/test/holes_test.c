// SPDX-License-Identifier: Apache-2.0
// Tests of holes in files: a source's holes are skipped, and long runs of zeros become holes in a sink.
// For any frames, on a disk and in memory, and never in the content that was there before.
#include "sink/sink.h"
#include "source/source.h"

#include "base/page_cache.h"
#include "stream_files.h"
#include "test.h"

#include <errno.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <signal.h>
#include <stddef.h>
#include <stdlib.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <sys/wait.h>

#define KIB ((size_t)1024)
#define MIB (1024 * KIB)
#define BYTES_MAX (24 * MIB)
#define PARTS_MAX 8

// A file: alternating runs of data and zeros, data first.
struct shape {
  const char *name;
  size_t parts[PARTS_MAX];
  size_t data_bytes; // maximum on the disk
};

static const struct shape shapes[] = {
    {"empty", {0}, 0},
    {"nothing but a hole", {0, 16 * MIB}, 0},
    {"nothing but a hole, and no whole block at its end", {0, 5 * MIB + 17}, 0},
    {"a hole first", {0, 4 * MIB, 100}, 4 * KIB},
    {"a hole in the middle", {100, 4 * MIB, 100}, 12 * KIB},
    {"a hole last", {MIB, 9 * MIB}, MIB},
    {"a hole last, from within a block to within one", {100, 9 * MIB}, 4 * KIB},
    {"holes from within blocks", {5000, 300 * KIB, 5000, 70 * KIB, 1, 5 * MIB, 77777}, 140 * KIB},
    {"zeros too short for a hole", {MIB, 63 * KIB, MIB, 4 * KIB, MIB, 100, 1}, BYTES_MAX},
    {"the shortest holes", {64 * KIB, 64 * KIB, 64 * KIB, 64 * KIB, 64 * KIB}, 192 * KIB},
};
#define SHAPES (sizeof shapes / sizeof *shapes)

static struct rd_error error;
static atomic_bool stop;
static unsigned char *bytes;
static bool has_holes; // whether the file system of the suite's files supports holes

static size_t make_bytes(const struct shape *shape) {
  size_t total = 0;
  for (size_t i = 0; i < PARTS_MAX; total += shape->parts[i++])
    memset(bytes + total, i % 2 == 0 ? 'd' : 0, shape->parts[i]);
  REQUIRE(total < BYTES_MAX);
  return total;
}

static size_t disk_bytes(const char *path) {
  struct stat status;
  REQUIRE(stat(path, &status) == 0);
  return (size_t)status.st_blocks * 512;
}

static bool write_frames(struct rd_sink *sink, size_t total, size_t frame_bytes) {
  for (size_t done = 0; done < total;) {
    size_t count = total - done < frame_bytes ? total - done : frame_bytes;
    if (!rd_sink_write(sink, bytes + done, count, &stop, &error)) return false;
    done += count;
  }
  return true;
}

// Checks that the file contains `before`, then the stream.
static void check_file(const char *name, const char *before, size_t total) {
  int fd = open(sink_path, O_RDONLY | O_CLOEXEC);
  unsigned char *seen = malloc(BYTES_MAX);
  REQUIRE(fd >= 0 && seen != NULL);
  size_t have = 0;
  for (ssize_t got; (got = rd_read_some(fd, seen + have, BYTES_MAX - have)) > 0;) have += (size_t)got;
  size_t first = strlen(before);
  bool same = have == first + total && memcmp(seen, before, first) == 0 && memcmp(seen + first, bytes, total) == 0;
  if (!CHECK(same)) fprintf(stderr, "%s: %zu bytes\n", name, have);
  free(seen);
  close(fd);
}

static void check_room(const struct shape *shape, size_t most) {
  if (has_holes && !CHECK(disk_bytes(sink_path) <= most))
    fprintf(stderr, "%s: %zu bytes on the disk\n", shape->name, disk_bytes(sink_path));
}

static void test_replaced(void) {
  static const size_t frames[] = {MIB, 64 * KIB, 100003};
  for (size_t s = 0; s < SHAPES; s++)
    for (size_t f = 0; f < sizeof frames / sizeof *frames; f++) {
      size_t total = make_bytes(&shapes[s]);
      struct rd_sink *sink = rd_sink_open(sink_path, false, &error);
      REQUIRE(sink != NULL);
      CHECK(write_frames(sink, total, frames[f]) && rd_sink_commit(sink, &error));
      rd_sink_destroy(sink);
      check_file(shapes[s].name, "", total);
      check_room(&shapes[s], shapes[s].data_bytes);
    }
}

static void put_file(const char *path, const char *text) {
  int fd = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
  REQUIRE(fd >= 0 && rd_write_all(fd, text, strlen(text)));
  close(fd);
}

// Holes begin at the old end of the file, which may be within a block.
static void test_appended(const char *before) {
  for (size_t s = 0; s < SHAPES; s++) {
    size_t total = make_bytes(&shapes[s]);
    put_file(sink_path, before);
    struct rd_sink *sink = rd_sink_open(sink_path, true, &error);
    REQUIRE(sink != NULL);
    CHECK(write_frames(sink, total, MIB) && rd_sink_commit(sink, &error));
    rd_sink_destroy(sink);
    check_file(shapes[s].name, before, total);
    size_t edges = 2 * 4 * KIB; // the old content, and a part of a block at the end
    if (strlen(before) % (4 * KIB) == 0) check_room(&shapes[s], shapes[s].data_bytes + edges);
  }
}

// Bytes that another process appends at the same time are kept.
static void test_appended_by_two(void) {
  put_file(sink_path, "old");
  memset(bytes, 0, MIB);
  struct rd_sink *sink = rd_sink_open(sink_path, true, &error);
  int other = open(sink_path, O_WRONLY | O_APPEND | O_CLOEXEC);
  REQUIRE(sink != NULL && other >= 0);
  CHECK(write_frames(sink, 200 * KIB, MIB) && rd_write_all(other, "theirs", 6) && write_frames(sink, MIB, MIB));
  CHECK(rd_write_all(other, "too", 3) && rd_sink_commit(sink, &error));
  rd_sink_destroy(sink);
  close(other);
  memcpy(bytes + 200 * KIB, "theirs", 6);
  memset(bytes + 200 * KIB + 6, 0, MIB);
  memcpy(bytes + 200 * KIB + 6 + MIB, "too", 3);
  check_file("by two", "old", 200 * KIB + 6 + MIB + 3);
}

// Appended zeros are visible immediately, and are cut off again.
static void test_abandoned(void) {
  put_file(sink_path, "old");
  memset(bytes, 0, MIB);
  struct rd_sink *sink = rd_sink_open(sink_path, true, &error);
  CHECK(sink != NULL && write_frames(sink, MIB, MIB));
  check_file("appended", "old", MIB);
  rd_sink_destroy(sink);
  check_file("abandoned", "old", 0);
}

// The existing bytes are not zero.
static void test_in_place(void) {
  int fd = open(sink_path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
  memset(bytes, 'x', 2 * MIB);
  REQUIRE(fd >= 0 && rd_write_all(fd, bytes, 2 * MIB) && lseek(fd, 0, SEEK_SET) == 0);
  memset(bytes, 0, 2 * MIB);
  struct rd_sink *sink = rd_sink_from_fd(fd);
  CHECK(sink != NULL && write_frames(sink, MIB, MIB) && rd_sink_commit(sink, &error));
  rd_sink_destroy(sink);
  close(fd);
  memset(bytes + MIB, 'x', MIB);
  check_file("in place", "", 2 * MIB);
}

// A hole takes no space, but a file may not be longer than its limit.
static void test_limit(void) {
  pid_t limited = fork();
  if (limited == 0) {
    signal(SIGXFSZ, SIG_IGN);
    REQUIRE(setrlimit(RLIMIT_FSIZE, &(struct rlimit){MIB, MIB}) == 0);
    memset(bytes, 0, 2 * MIB);
    struct rd_sink *sink = rd_sink_open(sink_path, false, &error);
    CHECK(sink != NULL && (!write_frames(sink, 2 * MIB, MIB) || !rd_sink_commit(sink, &error)));
    CHECK(error.code == RD_CODE_SINK_UNWRITABLE && strstr(error.message, "file too large") != NULL);
    rd_sink_destroy(sink);
    _exit(test_failures > 0);
  }
  int status = -1;
  CHECK(waitpid(limited, &status, 0) == limited && status == 0);
}

static void make_sparse_source(const struct shape *shape) {
  int fd = open(source_path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
  off_t at = 0;
  for (size_t i = 0; i < PARTS_MAX; at += (off_t)shape->parts[i++])
    if (i % 2 == 0) REQUIRE(pwrite(fd, bytes + at, shape->parts[i], at) == (ssize_t)shape->parts[i]);
  REQUIRE(ftruncate(fd, at) == 0);
  close(fd);
}

static void check_source(const struct shape *shape, size_t total, size_t most) {
  struct rd_source *source = rd_source_open(source_path, &error);
  unsigned char *seen = malloc(BYTES_MAX + MIB);
  REQUIRE(source != NULL && seen != NULL);
  CHECK(rd_source_size(source) == (int64_t)total);
  memset(seen, 'x', total);
  size_t have = 0;
  for (ssize_t got; (got = rd_source_read(source, seen + have, most, &stop, &error)) > 0;) have += (size_t)got;
  if (!CHECK(have == total && memcmp(seen, bytes, total) == 0)) fprintf(stderr, "%s: %zu bytes\n", shape->name, have);
  free(seen);
  rd_source_destroy(source);
}

static void test_sources(void) {
  static const size_t reads[] = {MIB, 100003, 4096};
  for (size_t s = 0; s < SHAPES; s++)
    for (size_t r = 0; r < sizeof reads / sizeof *reads; r++) {
      size_t total = make_bytes(&shapes[s]);
      make_sparse_source(&shapes[s]);
      check_source(&shapes[s], total, reads[r]);
    }
}

// Not even a skipped hole in a small file gets into memory.
static void test_hole_is_not_read(void) {
  static const struct shape small = {"small", {0, 2 * MIB, 1}, 0}; // too small to be read without the cache
  size_t total = make_bytes(&small);
  make_sparse_source(&small);
  check_source(&small, total, MIB);
  int fd = open(source_path, O_RDONLY | O_CLOEXEC);
  CHECK(fd >= 0 && (!has_holes || !rd_page_cache_has(fd, 0, MIB)));
  close(fd);
}

// The file becomes longer and shorter while it is read.
static void test_changing_source(void) {
  static const struct shape hole = {"changing", {0, 8 * MIB}, 0};
  make_bytes(&hole);
  make_sparse_source(&hole);
  struct rd_source *source = rd_source_open(source_path, &error);
  REQUIRE(source != NULL);
  unsigned char *seen = malloc(MIB);
  REQUIRE(seen != NULL && rd_source_read(source, seen, MIB, &stop, &error) == (ssize_t)MIB);
  REQUIRE(truncate(source_path, (off_t)MIB + 70000) == 0);
  CHECK(rd_source_read(source, seen, MIB, &stop, &error) == 70000);
  CHECK(rd_source_read(source, seen, MIB, &stop, &error) == 0);
  REQUIRE(truncate(source_path, 9) == 0);
  CHECK(rd_source_read(source, seen, MIB, &stop, &error) == 0);
  REQUIRE(truncate(source_path, (off_t)MIB + 70003) == 0);
  CHECK(rd_source_read(source, seen, MIB, &stop, &error) == 3 && memcmp(seen, "\0\0\0", 3) == 0);
  free(seen);
  rd_source_destroy(source);
}

// Simulates a file system that only writes in order, and cannot truncate.
static void forget_holes(void) {
  struct sock_filter steps[] = {
      BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr)),
      BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_ftruncate, 1, 0),
      BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_fallocate, 0, 1),
      BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | EOPNOTSUPP),
      BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
  };
  struct sock_fprog program = {.len = sizeof steps / sizeof *steps, .filter = steps};
  REQUIRE(prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) == 0 && prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program) == 0);
  REQUIRE(ftruncate(-1, 0) < 0 && errno == EOPNOTSUPP);
}

static void test_without_holes(void) {
  pid_t child = fork();
  if (child == 0) {
    forget_holes();
    has_holes = false;
    test_replaced();
    test_appended("old");
    _exit(test_failures > 0);
  }
  int status = -1;
  CHECK(waitpid(child, &status, 0) == child && status == 0);
}

static bool makes_holes(void) {
  put_file(sink_path, "");
  REQUIRE(truncate(sink_path, (off_t)MIB) == 0);
  return disk_bytes(sink_path) == 0;
}

static void test_all(void) {
  has_holes = makes_holes();
  test_replaced();
  static char old_block[4 * KIB + 1];
  memset(old_block, 'o', 4 * KIB);
  test_appended(old_block);
  test_appended("old");
  test_appended_by_two();
  test_abandoned();
  test_in_place();
  test_limit();
  test_without_holes();
  test_sources();
  test_hole_is_not_read();
  test_changing_source();
  remove_stream_files();
}

int main(void) {
  bytes = aligned_alloc(4096, BYTES_MAX);
  REQUIRE(bytes != NULL);
  make_stream_files("holes");
  test_all();
  make_stream_files_in("/dev/shm", "holes"); // a file system in memory
  test_all();
  free(bytes);
  return test_end("holes");
}
