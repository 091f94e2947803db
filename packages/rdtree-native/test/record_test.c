// SPDX-License-Identifier: Apache-2.0
// Tests of the records of a tree stream: their fields and limits.
#include "records.h"

#include "base/bytes.h"
#include "base/cleanup.h"
#include "base/memory.h"
#include "test.h"

#include <sys/stat.h>

#define CUT_MAX 8192u // the longest record that is cut at each of its bytes
// Versions of clang-format differ here.
// clang-format off
#define REGULAR \
  { .mode = S_IFREG | 04755, .uid = 1, .gid = UINT32_MAX, .mtime_ns = 999999999, .mtime_s = INT64_MIN }
// clang-format on

static struct rd_error error;
static unsigned char again[ENCODED_MAX];

// Shorter payloads are refused, or are valid records themselves.
static bool is_safe_when_cut(size_t count) {
  for (size_t left = RD_RECORD_HEAD_BYTES; left < count; left++) {
    struct rd_record decoded;
    RD_AUTO_FREE unsigned char *part = rd_memory_new(left, 1);
    memcpy(part, encoded, left);
    if (rd_record_decode(part, left, &decoded, &error) || error.code != RD_CODE_DATA_DAMAGED) return false;
    rd_put_u32(part, (uint32_t)(left - RD_RECORD_HEAD_BYTES));
    if (!rd_record_decode(part, left, &decoded, &error)) continue;
    if (rd_record_encode(&decoded, again) != left || memcmp(part, again, left) != 0) return false;
  }
  return true;
}

// A record that is decoded is encoded to the same bytes, so no field is lost.
static bool is_kept(const struct rd_record *record) {
  struct rd_record decoded;
  REQUIRE(rd_record_bound(record) <= sizeof encoded);
  size_t count = rd_record_encode(record, encoded);
  if (count > rd_record_bound(record) || !rd_record_decode(encoded, count, &decoded, &error)) return false;
  if (rd_record_encode(&decoded, again) != count || memcmp(encoded, again, count) != 0) return false;
  return count > CUT_MAX || is_safe_when_cut(count);
}

static bool is_refused(const struct rd_record *record) {
  struct rd_record decoded;
  size_t count = rd_record_encode(record, encoded);
  return !rd_record_decode(encoded, count, &decoded, &error) && error.code == RD_CODE_DATA_DAMAGED;
}

static void test_records(void) {
  const struct rd_metadata metadata = REGULAR;
  struct rd_record records[] = {
      {.type = RD_RECORD_HEAD, .head = {UINT32_MAX, RD_STREAM_RESULTS}},
      {.type = RD_RECORD_OWNER, .owner = {true, UINT32_MAX, bytes(RD_NAME_MAX_BYTES)}},
      {.type = RD_RECORD_OWNER, .owner = {false, 0, bytes(1)}},
      {.type = RD_RECORD_PLACE, .place = RD_PLACE_AS},
      {.type = RD_RECORD_LEAVE, .leave = {true}},
      {.type = RD_RECORD_LEAVE, .leave = {false}},
      {.type = RD_RECORD_XATTR, .xattr = {bytes(RD_NAME_MAX_BYTES), bytes(64u << 10)}},
      {.type = RD_RECORD_XATTR, .xattr = {bytes(1), bytes(0)}},
      {.type = RD_RECORD_BLOCKS, .blocks = {64u << 10, UINT64_C(65536) << 16, bytes(RD_BLOCKS_MAX * 16)}},
      {.type = RD_RECORD_BLOCKS, .blocks = {1u << 30, 0, bytes(0)}},
      {.type = RD_RECORD_DATA, .data = {INT64_MAX - RD_RECORD_DATA_MAX_BYTES, bytes(RD_RECORD_DATA_MAX_BYTES)}},
      {.type = RD_RECORD_DATA, .data = {0, bytes(1)}},
      {.type = RD_RECORD_FILE_END, .file_end = {RD_FILE_DROPPED, INT64_MAX, {1, 2, [15] = 3}, metadata}},
      {.type = RD_RECORD_REMOVE, .entry = {.name = bytes(RD_NAME_MAX_BYTES)}},
      {.type = RD_RECORD_FAILED, .entry = {.name = rd_bytes_of("...")}},
      {.type = RD_RECORD_DONE, .done = {7, rd_bytes_of("a/..b/c"), metadata, INT64_MAX}},
      {.type = RD_RECORD_DONE, .done = {0, bytes(0), metadata, 0}},
      {.type = RD_RECORD_END, .end = {UINT64_MAX, 1, UINT64_MAX}},
      {.type = RD_RECORD_SKIP, .skip = 1},
      {.type = RD_RECORD_SKIP, .skip = INT64_MAX},
      {.type = RD_RECORD_WANTS, .wants = rd_bytes_of("\2\1")},
      {.type = RD_RECORD_ENTER, .entry = {.metadata = {.mode = S_IFDIR | 01777}, .source = 9}},
      {.type = RD_RECORD_FILE,
       .entry = {bytes(RD_NAME_MAX_BYTES), metadata, .want = RD_WANT_RESUME, .size = INT64_MAX, .has_digest = true,
                 .digest = {[15] = 1}}},
      {.type = RD_RECORD_FILE, .entry = {rd_bytes_of(".a"), metadata, .source = UINT32_MAX}},
      {.type = RD_RECORD_FILE,
       .entry = {rd_bytes_of("a"), metadata, .want = RD_WANT_LINK, .link_dest = RD_LINK_DESTS_MAX - 1}},
      {.type = RD_RECORD_SYMLINK, .entry = {bytes(2), {.mode = S_IFLNK | 0777}, .target = bytes(4095)}},
      {.type = RD_RECORD_SPECIAL, .entry = {bytes(2), {.mode = S_IFBLK}, .device = UINT64_MAX}},
      {.type = RD_RECORD_LINK, .entry = {bytes(2), metadata, .size = 5, .target = rd_bytes_of("a/b")}},
  };
  for (size_t i = 0; i < sizeof records / sizeof *records; i++)
    if (!CHECK(is_kept(&records[i]))) fprintf(stderr, "  record %zu: %s\n", i, error.message);
}

static void test_fields_that_cannot_be(void) {
  const struct rd_metadata metadata = REGULAR, late = {.mode = S_IFREG, .mtime_ns = 1000000000};
  const struct rd_metadata wide = {.mode = 0200000 | S_IFREG};
  const struct rd_record records[] = {
      {.type = RD_RECORD_HEAD, .head = {1, 0}},
      {.type = RD_RECORD_HEAD, .head = {1, 6}},
      {.type = RD_RECORD_OWNER, .owner = {false, 0, bytes(0)}},
      {.type = RD_RECORD_OWNER, .owner = {false, 0, bytes(RD_NAME_MAX_BYTES + 1)}},
      {.type = RD_RECORD_OWNER, .owner = {false, 0, rd_bytes_of("a:b")}},
      {.type = RD_RECORD_OWNER, .owner = {false, 0, rd_bytes_of("a\n")}},
      {.type = RD_RECORD_OWNER, .owner = {false, 0, {(const unsigned char *)"a\0b", 3}}},
      {.type = RD_RECORD_PLACE, .place = (enum rd_target_mode)2},
      {.type = RD_RECORD_XATTR, .xattr = {bytes(0), bytes(1)}},
      {.type = RD_RECORD_XATTR, .xattr = {bytes(RD_NAME_MAX_BYTES + 1), bytes(1)}},
      {.type = RD_RECORD_XATTR, .xattr = {{(const unsigned char *)"a\0b", 3}, bytes(1)}},
      {.type = RD_RECORD_XATTR, .xattr = {bytes(1), bytes((64u << 10) + 1)}},
      {.type = RD_RECORD_BLOCKS, .blocks = {(64u << 10) - 1, 1, bytes(0)}},
      {.type = RD_RECORD_BLOCKS, .blocks = {(1u << 30) + 1, 1, bytes(0)}},
      {.type = RD_RECORD_BLOCKS, .blocks = {0, 0, bytes(0)}},
      {.type = RD_RECORD_BLOCKS, .blocks = {64u << 10, (3u << 16) - 1, bytes(2 * 16)}},
      {.type = RD_RECORD_BLOCKS, .blocks = {64u << 10, 3u << 16, bytes(2 * 16)}},
      {.type = RD_RECORD_BLOCKS, .blocks = {64u << 10, 3u << 16, bytes(3 * 16 + 1)}},
      {.type = RD_RECORD_BLOCKS, .blocks = {64u << 10, UINT64_C(65537) << 16, bytes(65537 * 16)}},
      {.type = RD_RECORD_BLOCKS, .blocks = {1u << 30, (uint64_t)INT64_MAX + 1, bytes(0)}},
      {.type = RD_RECORD_DATA, .data = {0, bytes(0)}},
      {.type = RD_RECORD_DATA, .data = {0, bytes(RD_RECORD_DATA_MAX_BYTES + 1)}},
      {.type = RD_RECORD_DATA, .data = {INT64_MAX - RD_RECORD_DATA_MAX_BYTES + 1, bytes(1)}},
      {.type = RD_RECORD_FILE_END, .file_end = {(enum rd_file_state)3, 0, {0}, metadata}},
      {.type = RD_RECORD_FILE_END, .file_end = {RD_FILE_WHOLE, (uint64_t)INT64_MAX + 1, {0}, metadata}},
      {.type = RD_RECORD_FILE_END, .file_end = {RD_FILE_WHOLE, 0, {0}, late}},
      {.type = RD_RECORD_FILE_END, .file_end = {RD_FILE_WHOLE, 0, {0}, wide}},
      {.type = RD_RECORD_DONE, .done = {0, rd_bytes_of("a"), late, 0}},
      {.type = RD_RECORD_DONE, .done = {0, rd_bytes_of("a"), wide, 0}},
      {.type = RD_RECORD_DONE, .done = {0, rd_bytes_of("/a"), metadata, 0}},
      {.type = RD_RECORD_DONE, .done = {0, rd_bytes_of("a"), metadata, (uint64_t)INT64_MAX + 1}},
      {.type = RD_RECORD_FILE, .entry = {.name = bytes(1), .metadata = late}},
      {.type = RD_RECORD_FILE, .entry = {.name = bytes(1), .metadata = wide}},
      {.type = RD_RECORD_FILE, .entry = {bytes(1), metadata, .want = RD_WANT_LINK, .link_dest = RD_LINK_DESTS_MAX}},
      {.type = RD_RECORD_ENTER, .entry = {bytes(2), {.mode = S_IFDIR}, .want = RD_WANT_LINK}},
      {.type = RD_RECORD_LINK, .entry = {bytes(2), metadata, .want = RD_WANT_LINK, .target = bytes(1)}},
      {.type = RD_RECORD_FILE, .entry = {bytes(1), metadata, .size = (uint64_t)INT64_MAX + 1}},
      {.type = RD_RECORD_FILE, .entry = {.name = bytes(0), .metadata = metadata}},
      {.type = RD_RECORD_SYMLINK, .entry = {bytes(2), {.mode = S_IFLNK}, .target = bytes(0)}},
      {.type = RD_RECORD_SYMLINK, .entry = {bytes(2), {.mode = S_IFLNK}, .target = bytes(4096)}},
      {.type = RD_RECORD_SYMLINK, .entry = {bytes(2), {.mode = S_IFLNK}, .target = {(const unsigned char *)"\0", 1}}},
      {.type = RD_RECORD_ENTER, .entry = {bytes(2), {.mode = S_IFDIR}, .target = bytes(1)}},
      {.type = RD_RECORD_SKIP, .skip = 0},
      {.type = RD_RECORD_SKIP, .skip = (uint64_t)INT64_MAX + 1},
      {.type = RD_RECORD_WANTS, .wants = rd_bytes_of("")},
      {.type = RD_RECORD_WANTS, .wants = rd_bytes_of("\3")},
  };
  for (size_t i = 0; i < sizeof records / sizeof *records; i++)
    if (!CHECK(is_refused(&records[i]))) fprintf(stderr, "  record %zu\n", i);
}

static void test_types_of_modes(void) {
  static const uint32_t modes[] = {S_IFREG, S_IFDIR, S_IFLNK, S_IFIFO, S_IFSOCK, S_IFCHR, S_IFBLK, 0, 0170000, 0030000};
  static const struct {
    enum rd_record_type type;
    const char *fit; // of `modes`, in order
  } rows[] = {
      {RD_RECORD_FILE, "1000000000"},    {RD_RECORD_ENTER, "0100000000"}, {RD_RECORD_SYMLINK, "0010000000"},
      {RD_RECORD_SPECIAL, "0001111000"}, {RD_RECORD_LINK, "1011111000"},
  };
  for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
    for (size_t j = 0; j < sizeof modes / sizeof *modes; j++) {
      struct rd_record record = entry(rows[i].type, modes[j], "a");
      CHECK(rows[i].fit[j] == '1' ? is_kept(&record) : is_refused(&record));
    }
  }
}

static void test_names(void) {
  static const struct rd_bytes bad[] = {
      {(const unsigned char *)".", 1},    {(const unsigned char *)"..", 2}, {(const unsigned char *)"/", 1},
      {(const unsigned char *)"a/b", 3},  {(const unsigned char *)"\0", 1}, {(const unsigned char *)"a\0", 2},
      {(const unsigned char *)"../a", 4}, {many, RD_NAME_MAX_BYTES + 1},
  };
  static const struct {
    enum rd_record_type type;
    uint32_t mode;
  } kinds[] = {{RD_RECORD_ENTER, S_IFDIR},   {RD_RECORD_FILE, S_IFREG}, {RD_RECORD_SYMLINK, S_IFLNK},
               {RD_RECORD_SPECIAL, S_IFIFO}, {RD_RECORD_LINK, S_IFREG}, {RD_RECORD_REMOVE, 0},
               {RD_RECORD_FAILED, 0}};
  for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
    CHECK(!rd_name_is_valid(bad[i]));
    for (size_t j = 0; j < sizeof kinds / sizeof *kinds; j++) {
      struct rd_record record = entry(kinds[j].type, kinds[j].mode, "");
      if (record.type != RD_RECORD_ENTER) CHECK(is_refused(&record));
      record.entry.name = bad[i];
      CHECK(is_refused(&record));
    }
  }
  CHECK(rd_name_is_valid(rd_bytes_of("...")) && rd_name_is_valid(rd_bytes_of("..a")) && rd_name_is_valid(bytes(255)));
}

static void test_paths(void) {
  static const char *const bad[] = {"", "/", "/a", "a/", "a//b", "..", "a/../b", "./a", "a/."};
  for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
    struct rd_record record = entry(RD_RECORD_LINK, S_IFREG, "a");
    record.entry.target = rd_bytes_of(bad[i]);
    CHECK(!rd_path_is_valid(record.entry.target) && is_refused(&record));
  }
  static unsigned char path[RD_PATH_MAX_BYTES + 2];
  for (size_t i = 0; i < sizeof path; i++) path[i] = i % 2 == 0 ? 'a' : '/';
  CHECK(rd_path_is_valid((struct rd_bytes){path, RD_PATH_MAX_BYTES - 1}));
  CHECK(!rd_path_is_valid((struct rd_bytes){path, RD_PATH_MAX_BYTES + 1}));
}

static void test_lengths(void) {
  struct rd_record record = {.type = RD_RECORD_END}, decoded;
  size_t count = rd_record_encode(&record, encoded), payload;
  encoded[count] = 0;
  CHECK(!rd_record_decode(encoded, count + 1, &decoded, &error));
  rd_put_u32(encoded, (uint32_t)(count + 1 - RD_RECORD_HEAD_BYTES));
  CHECK(!rd_record_decode(encoded, count + 1, &decoded, &error)); // a byte is left over
  for (size_t bytes_there = 0; bytes_there < RD_RECORD_HEAD_BYTES; bytes_there++)
    CHECK(!rd_record_decode(encoded, bytes_there, &decoded, &error));
  for (uint32_t type = 18; type != 0; type = type == 18 ? UINT32_MAX : 0) {
    rd_record_encode(&record, encoded);
    rd_put_u32(encoded + 4, type);
    CHECK(!rd_record_decode(encoded, count, &decoded, &error));
  }
  rd_put_u32(encoded, RD_RECORD_MAX_BYTES);
  CHECK(rd_record_payload_bytes(encoded, &payload, &error) && payload == RD_RECORD_MAX_BYTES);
  rd_put_u32(encoded, RD_RECORD_MAX_BYTES + 1);
  CHECK(!rd_record_payload_bytes(encoded, &payload, &error) && error.code == RD_CODE_DATA_DAMAGED);
  rd_record_encode(&(struct rd_record){.type = RD_RECORD_LEAVE, .leave = {true}}, encoded);
  encoded[RD_RECORD_HEAD_BYTES] = 2; // a flag is 0 or 1
  CHECK(!rd_record_decode(encoded, RD_RECORD_HEAD_BYTES + 4, &decoded, &error));
}

int main(void) {
  test_records();
  test_fields_that_cannot_be();
  test_types_of_modes();
  test_names();
  test_paths();
  test_lengths();
  return test_end("rdtree records");
}
