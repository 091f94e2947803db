// SPDX-License-Identifier: Apache-2.0
// Rows of options and roles for X macros, from packages/rdpipe/src/model: made by `npm run fix`.
#ifndef RD_BASE_OPTION_ROWS_H
#define RD_BASE_OPTION_ROWS_H

// clang-format off
#define RD_COMPRESS_MIN INT64_C(0)
#define RD_COMPRESS_MAX INT64_C(19)
#define RD_COMPRESS_DEFAULT INT64_C(0)
#define RD_JOBS_MIN INT64_C(0)
#define RD_JOBS_MAX INT64_C(64)
#define RD_JOBS_DEFAULT INT64_C(0)
#define RD_LIMIT_MIN INT64_C(0)
#define RD_LIMIT_MAX INT64_C(1125899906842624)
#define RD_LIMIT_DEFAULT INT64_C(0)
#define RD_STREAMS_MIN INT64_C(0)
#define RD_STREAMS_MAX INT64_C(16)
#define RD_STREAMS_DEFAULT INT64_C(0)
#define RD_BUFFER_MIN INT64_C(65536)
#define RD_BUFFER_MAX INT64_C(1073741824)
#define RD_BUFFER_DEFAULT INT64_C(8388608)
#define RD_POLL_DEFAULT false
#define RD_NUMA_DEFAULT true
#define RD_CONGESTION_DEFAULT true
#define RD_CONNECT_TIMEOUT_MS_MIN INT64_C(1)
#define RD_CONNECT_TIMEOUT_MS_MAX INT64_C(2147483647)
#define RD_CONNECT_TIMEOUT_MS_DEFAULT INT64_C(10000)
#define RD_STALL_TIMEOUT_MS_MIN INT64_C(2000)
#define RD_STALL_TIMEOUT_MS_MAX INT64_C(2147483647)
#define RD_STALL_TIMEOUT_MS_DEFAULT INT64_C(60000)
#define RD_REMOVE_MOST_MIN INT64_C(0)
#define RD_REMOVE_MOST_MAX INT64_C(999999999)

// NUMBER(name, row): a field from RD_##row##_MIN to RD_##row##_MAX; FLAG(name, row): a boolean one.
// Of `open` of a hop; an absent flag is RD_##row##_DEFAULT:
#define RD_HOP_OPTIONS(NUMBER, FLAG) \
  NUMBER(compress, COMPRESS) \
  NUMBER(jobs, JOBS) \
  NUMBER(limit, LIMIT) \
  NUMBER(streams, STREAMS) \
  NUMBER(buffer, BUFFER) \
  FLAG(poll, POLL) \
  FLAG(numa, NUMA) \
  FLAG(congestion, CONGESTION) \
  NUMBER(connect_timeout_ms, CONNECT_TIMEOUT_MS) \
  NUMBER(stall_timeout_ms, STALL_TIMEOUT_MS)

// Of the settings of a program of a copy; an absent flag is false:
#define RD_TREE_OPTIONS(NUMBER, FLAG) \
  FLAG(recursive, RECURSIVE) \
  FLAG(archive, ARCHIVE) \
  FLAG(acls, ACLS) \
  FLAG(xattrs, XATTRS) \
  FLAG(one_file_system, ONE_FILE_SYSTEM) \
  FLAG(remove, REMOVE) \
  NUMBER(remove_most, REMOVE_MOST) \
  FLAG(checksum, CHECKSUM) \
  FLAG(update, UPDATE) \
  FLAG(verify, VERIFY) \
  FLAG(sync, SYNC) \
  FLAG(partial, PARTIAL) \
  FLAG(in_place, IN_PLACE) \
  FLAG(make_parents, MAKE_PARENTS) \
  FLAG(clean, CLEAN) \
  NUMBER(jobs, JOBS)

// ROLE(name, NAME, sources, has a target, rights): the programs of a copy.
#define RD_TREE_ROLES(ROLE) \
  ROLE(scan, SCAN, RD_SOURCES_PATHS, false, RD_RIGHTS_READ) \
  ROLE(compare, COMPARE, RD_SOURCES_NAMES, true, RD_RIGHTS_WRITE) \
  ROLE(read, READ, RD_SOURCES_PATHS, false, RD_RIGHTS_READ) \
  ROLE(write, WRITE, RD_SOURCES_NAMES, true, RD_RIGHTS_WRITE) \
  ROLE(copy, COPY, RD_SOURCES_PATHS, true, RD_RIGHTS_BOTH) \
  ROLE(clean, CLEAN, RD_SOURCES_PATHS, false, RD_RIGHTS_BOTH) \
  ROLE(send, SEND, RD_SOURCES_PATHS, false, RD_RIGHTS_READ) \
  ROLE(unite, UNITE, RD_SOURCES_NONE, false, RD_RIGHTS_NONE)

#define RD_ENCRYPT_WORDS "auto", "always", "auth", "never", "tcp"
// clang-format on

#endif
