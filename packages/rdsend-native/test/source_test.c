// SPDX-License-Identifier: Apache-2.0
// Tests of files as sources: in memory, only on the disk, and partly in memory.
// They change during reading, or are inherited descriptors. A part that was read without the page cache can be
// recognized: it is still not in memory.
#include "source/source.h"

#include "base/direct_io.h"
#include "base/page_cache.h"
#include "base/pages.h"
#include "stream_files.h"
#include "test.h"

#include <errno.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>

#define MIB (1 << 20)
#define FILE_BYTES (9 * MIB + 1234)
#define READ_BYTES ((size_t)MIB)

#ifndef SYS_cachestat
#define SYS_cachestat 451
#endif

static struct rd_error error;
static atomic_bool stop;
static unsigned char *expected, *seen; // page-aligned, larger than the file
static bool is_direct;                 // the file system of the suite's files supports direct I/O

static int open_source_file(int flags) {
  int fd = open(source_path, flags | O_CLOEXEC);
  REQUIRE(fd >= 0);
  return fd;
}

static void load_expected(void) {
  int fd = open_source_file(O_RDONLY);
  for (size_t have = 0; have < FILE_BYTES;) {
    ssize_t got = rd_read_some(fd, expected + have, FILE_BYTES - have);
    REQUIRE(got > 0);
    have += (size_t)got;
  }
  close(fd);
}

// Removes the file's content from memory from `from` on.
static void make_cold(off_t from) {
  int fd = open_source_file(O_RDWR);
  CHECK(fsync(fd) == 0 && posix_fadvise(fd, from, 0, POSIX_FADV_DONTNEED) == 0);
  close(fd);
}

static void make_cached(off_t from, off_t bytes) {
  static unsigned char block[64 << 10];
  int fd = open_source_file(O_RDONLY);
  REQUIRE(posix_fadvise(fd, 0, 0, POSIX_FADV_RANDOM) == 0); // without read-ahead
  for (off_t at = from; at < from + bytes; at += (off_t)sizeof block) REQUIRE(pread(fd, block, sizeof block, at) > 0);
  close(fd);
}

static bool is_cached(int mib) {
  int fd = open_source_file(O_RDONLY);
  bool cached = rd_page_cache_has(fd, (off_t)mib * MIB, MIB);
  close(fd);
  return cached;
}

// Does as the reading thread does. Returns the number of bytes read.
static size_t read_to_end(struct rd_source *source, unsigned char *into) {
  size_t have = 0;
  for (;;) {
    ssize_t got = rd_source_read(source, into + have, READ_BYTES, &stop, &error);
    if (!CHECK(got >= 0) || got == 0) return have;
    have += (size_t)got;
  }
}

static void check_read(struct rd_source *source, size_t from) {
  memset(seen, 0, FILE_BYTES);
  CHECK(read_to_end(source, seen) == FILE_BYTES - from && memcmp(seen, expected + from, FILE_BYTES - from) == 0);
}

static struct rd_source *open_source(void) {
  struct rd_source *source = rd_source_open(source_path, &error);
  REQUIRE(source != NULL);
  return source;
}

static void test_cached(void) {
  struct rd_source *source = open_source();
  make_cached(0, FILE_BYTES);
  CHECK(is_cached(0) && is_cached(8) && rd_source_size(source) == FILE_BYTES);
  check_read(source, 0);
  rd_source_destroy(source);
}

static void test_cold(void) {
  struct rd_source *source = open_source();
  make_cold(0);
  CHECK(!is_direct || !is_cached(0));
  check_read(source, 0);
  for (int mib = 0; mib < 9; mib++) CHECK(!is_direct || !is_cached(mib));
  rd_source_destroy(source);
}

static void test_parts(void) {
  struct rd_source *source = open_source();
  make_cold(0);
  make_cached(0, 2 * MIB + 16384);
  make_cached(6 * MIB, MIB);
  check_read(source, 0);
  CHECK(is_cached(0) && is_cached(1) && is_cached(6));
  CHECK(!is_direct || (!is_cached(4) && !is_cached(8)));
  rd_source_destroy(source);
}

// The file is written to while it is read: data that is not on the disk yet is also read.
static void test_dirty(void) {
  struct rd_source *source = open_source();
  make_cold(0);
  int fd = open_source_file(O_WRONLY);
  memset(expected + 3 * MIB + 100, 'd', 70000);
  CHECK(pwrite(fd, expected + 3 * MIB + 100, 70000, 3 * MIB + 100) == 70000);
  check_read(source, 0);
  close(fd);
  rd_source_destroy(source);
}

static void test_unaligned_memory(void) {
  struct rd_source *source = open_source();
  make_cold(0);
  memset(seen, 0, FILE_BYTES);
  CHECK(read_to_end(source, seen + 1) == FILE_BYTES && memcmp(seen + 1, expected, FILE_BYTES) == 0);
  rd_source_destroy(source);
}

// The offset of the descriptor is shared: reading begins there, and leaves it at the end of the bytes read.
static void test_inherited(off_t from) {
  int fd = open_source_file(O_RDONLY);
  make_cold(0);
  CHECK(lseek(fd, from, SEEK_SET) == from);
  struct rd_source *source = rd_source_from_fd(fd);
  REQUIRE(source != NULL);
  CHECK(rd_source_size(source) == FILE_BYTES - from);
  ssize_t got = rd_source_read(source, seen, READ_BYTES, &stop, &error);
  CHECK(got > 0 && memcmp(seen, expected + from, (size_t)got) == 0 && lseek(fd, 0, SEEK_CUR) == from + got);
  CHECK(lseek(fd, from + got + 4096, SEEK_SET) > 0); // another process also reads
  check_read(source, (size_t)(from + got + 4096));
  CHECK(lseek(fd, 0, SEEK_CUR) == FILE_BYTES);
  rd_source_destroy(source);
  close(fd);
}

static void test_growing(void) {
  struct rd_source *source = open_source();
  make_cold(0);
  ssize_t first = rd_source_read(source, seen, READ_BYTES, &stop, &error);
  REQUIRE(first > 0);
  int fd = open_source_file(O_WRONLY | O_APPEND);
  CHECK(rd_write_all(fd, expected, 100000));
  close(fd);
  CHECK(read_to_end(source, seen + first) == FILE_BYTES + 100000 - (size_t)first);
  CHECK(memcmp(seen, expected, FILE_BYTES) == 0 && memcmp(seen + FILE_BYTES, expected, 100000) == 0);
  CHECK(truncate(source_path, FILE_BYTES) == 0);
  rd_source_destroy(source);
}

// A file that became shorter ends at its new end, as with read().
static void test_shrinking(off_t to) {
  struct rd_source *source = open_source();
  make_cold(0);
  REQUIRE(rd_source_read(source, seen, READ_BYTES, &stop, &error) == (ssize_t)READ_BYTES);
  CHECK(truncate(source_path, to) == 0);
  size_t left = to > (off_t)READ_BYTES ? (size_t)to - READ_BYTES : 0;
  CHECK(read_to_end(source, seen + READ_BYTES) == left && memcmp(seen, expected, READ_BYTES + left) == 0);
  rd_source_destroy(source);
  int fd = open_source_file(O_WRONLY);
  CHECK(rd_write_all(fd, expected, FILE_BYTES));
  close(fd);
}

static void test_stopped(void) {
  struct rd_source *source = open_source();
  make_cold(0);
  stop = true;
  CHECK(rd_source_read(source, seen, READ_BYTES, &stop, &error) == -1 && error.code == RD_CODE_ABORTED);
  stop = false;
  rd_source_destroy(source);
}

static void test_all(void) {
  test_cached();
  test_cold();
  test_parts();
  test_dirty();
  test_unaligned_memory();
  test_inherited(0);
  test_inherited(2 * MIB);
  test_inherited(5);
  test_growing();
  test_shrinking(MIB / 2);
  test_shrinking(4 * MIB + 5);
  test_stopped();
}

// Simulates a kernel before 6.5, which does not support cachestat(2).
static void forget_cachestat(void) {
  struct sock_filter steps[] = {
      BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr)),
      BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_cachestat, 0, 1),
      BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | ENOSYS),
      BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
  };
  struct sock_fprog program = {.len = sizeof steps / sizeof *steps, .filter = steps};
  REQUIRE(prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) == 0 && prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program) == 0);
  REQUIRE(syscall(SYS_cachestat, -1, NULL, NULL, 0) < 0 && errno == ENOSYS);
}

static void prepare(void) {
  make_stream_files("source");
  write_source(FILE_BYTES);
  expected = rd_pages_allocate(FILE_BYTES + 2 * READ_BYTES);
  seen = rd_pages_allocate(FILE_BYTES + 2 * READ_BYTES);
  REQUIRE(expected != NULL && seen != NULL);
  load_expected();
  int fd = open_source_file(O_RDONLY);
  struct rd_direct_io needs;
  is_direct = rd_direct_io_needs(fd, &needs);
  close(fd);
}

int main(void) {
  prepare();
  pid_t old_kernel = fork();
  if (old_kernel == 0) {
    forget_cachestat();
    test_all();
    _exit(test_failures > 0);
  }
  int status = -1;
  CHECK(waitpid(old_kernel, &status, 0) == old_kernel && status == 0);
  load_expected(); // the child process wrote to the file
  test_all();
  remove_stream_files();
  free(expected);
  free(seen);
  return test_end("source");
}
