// SPDX-License-Identifier: Apache-2.0
// A source file and a sink file for a test suite, in a directory of their own.
#ifndef RD_STREAM_FILES_H
#define RD_STREAM_FILES_H

#include "base/io.h"
#include "test.h"

#include <fcntl.h>
#include <stdint.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static char directory[64], source_path[80], sink_path[80];

static inline void make_stream_files_in(const char *where, const char *suite) {
  snprintf(directory, sizeof directory, "%s/rd-%s-XXXXXX", where, suite);
  REQUIRE(mkdtemp(directory) != NULL);
  snprintf(source_path, sizeof source_path, "%s/source", directory);
  snprintf(sink_path, sizeof sink_path, "%s/sink", directory);
}

static inline void make_stream_files(const char *suite) {
  make_stream_files_in("/tmp", suite);
}

// Checks that nothing else is left in the directory.
static inline void remove_stream_files(void) {
  unlink(source_path);
  unlink(sink_path);
  CHECK(rmdir(directory) == 0);
}

// In a mixed source half of the bytes can be compressed. The file is written once for all streams of a kind.
static inline void write_bytes(size_t bytes, bool mixed) {
  static size_t written_bytes = SIZE_MAX;
  static bool written_mixed;
  if (bytes == written_bytes && mixed == written_mixed) return;
  written_bytes = bytes;
  written_mixed = mixed;
  int fd = open(source_path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
  uint64_t state = bytes + 1;
  uint64_t block[512];
  REQUIRE(fd >= 0);
  for (size_t left = bytes; left > 0;) {
    bool plain = mixed && left / 100000 % 2 == 0;
    for (size_t i = 0; i < sizeof block / sizeof block[0]; i++) {
      uint64_t high = (state = state * 6364136223846793005u + 1) >> 32, low = state * 0x9e3779b97f4a7c15u >> 32;
      block[i] = high << 32 | low;
      if (plain) block[i] = 0x6161616161616161u + (block[i] & 0x0303030303030303u);
    }
    size_t part = left < sizeof block ? left : sizeof block;
    REQUIRE(rd_write_all(fd, block, part));
    left -= part;
  }
  close(fd);
}

static inline void write_source(size_t bytes) {
  write_bytes(bytes, false);
}

static inline void write_mixed_source(size_t bytes) {
  write_bytes(bytes, true);
}

static inline bool same_files(void) {
  int source = open(source_path, O_RDONLY | O_CLOEXEC), sink = open(sink_path, O_RDONLY | O_CLOEXEC);
  static unsigned char one[1 << 16], other[1 << 16];
  bool same = source >= 0 && sink >= 0;
  while (same) {
    ssize_t got = rd_read_some(source, one, sizeof one);
    same = got >= 0 && rd_read_some(sink, other, sizeof other) == got && memcmp(one, other, (size_t)got) == 0;
    if (got <= 0) break;
  }
  close(source);
  close(sink);
  return same;
}

#endif
