// SPDX-License-Identifier: Apache-2.0
// Tests of the tree stream: the order of records; streams that arrive in pieces or are cut off.
#include "records.h"
#include "stream/own_view.h"
#include "stream/stream_reader.h"
#include "stream/stream_writer.h"

#include "base/cleanup.h"
#include "base/io.h"
#include "base/memory.h"
#include "test.h"

#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/stat.h>

static struct rd_error error;

// One letter per record: see make().
static const struct {
  enum rd_stream_phase phase;
  const char *records;
  bool is_refused; // at the last record
} orders[] = {
    {RD_STREAM_ENTRIES, "z", false},
    {RD_STREAM_ENTRIES, "ofsxpldfLxdLz", false},
    {RD_STREAM_ENTRIES, "eoFfLz", false},
    {RD_STREAM_ENTRIES, "dd", false},
    {RD_STREAM_ENTRIES, "de", true},
    {RD_STREAM_ENTRIES, "1dLz", false},
    {RD_STREAM_ENTRIES, "d1", true},
    {RD_STREAM_ENTRIES, "dz", true},
    {RD_STREAM_ENTRIES, "L", true},
    {RD_STREAM_ENTRIES, "dLL", true},
    {RD_STREAM_ENTRIES, "h", true},
    {RD_STREAM_ENTRIES, "fh", true},
    {RD_STREAM_ENTRIES, "P", true},
    {RD_STREAM_ENTRIES, "R", true},
    {RD_STREAM_ENTRIES, "b", true},
    {RD_STREAM_ENTRIES, "m", true},
    {RD_STREAM_ENTRIES, "n", true},
    {RD_STREAM_ENTRIES, "r", true},
    {RD_STREAM_ENTRIES, "D", true},
    {RD_STREAM_ENTRIES, "fD", true},
    {RD_STREAM_ENTRIES, "fE", true},
    {RD_STREAM_ENTRIES, "O", true},
    {RD_STREAM_ENTRIES, "xxfz", false},
    {RD_STREAM_ENTRIES, "xz", true},
    {RD_STREAM_ENTRIES, "xl", true},
    {RD_STREAM_ENTRIES, "xo", true},
    {RD_STREAM_ENTRIES, "dxL", true},
    {RD_STREAM_ENTRIES, "xF", true},
    {RD_STREAM_ENTRIES, "zf", true},
    {RD_STREAM_ENTRIES, "zz", true},
    {RD_STREAM_DECISIONS, "oPfmdRFLnLz", false},
    {RD_STREAM_DECISIONS, "brz", false},
    {RD_STREAM_DECISIONS, "bxrxbrz", false},
    {RD_STREAM_DECISIONS, "RPz", false},
    {RD_STREAM_DECISIONS, "Ptyxtz", false},
    {RD_STREAM_DECISIONS, "bt", true},
    {RD_STREAM_DECISIONS, "PP", true},
    {RD_STREAM_DECISIONS, "fP", true},
    {RD_STREAM_DECISIONS, "xP", true},
    {RD_STREAM_DECISIONS, "r", true},
    {RD_STREAM_DECISIONS, "bf", true},
    {RD_STREAM_DECISIONS, "bs", true},
    {RD_STREAM_DECISIONS, "bd", true},
    {RD_STREAM_DECISIONS, "bb", true},
    {RD_STREAM_DECISIONS, "bxb", true},
    {RD_STREAM_DECISIONS, "bxs", true},
    {RD_STREAM_DECISIONS, "xR", true},
    {RD_STREAM_DECISIONS, "u", true},
    {RD_STREAM_DECISIONS, "i", true},
    {RD_STREAM_DECISIONS, "D", true},
    {RD_STREAM_CONTENTS, "PfDGEfEmsdfEbrDELz", false},
    {RD_STREAM_CONTENTS, "fDAGEz", false},
    {RD_STREAM_CONTENTS, "fGADEz", false},
    {RD_STREAM_CONTENTS, "fDAEfDAEz", false},
    {RD_STREAM_CONTENTS, "fDADA", true},
    {RD_STREAM_CONTENTS, "fDXz", false},
    {RD_STREAM_CONTENTS, "f0z", false},
    {RD_STREAM_CONTENTS, "tyfEtz", false},
    {RD_STREAM_CONTENTS, "tD", true},
    {RD_STREAM_CONTENTS, "tE", true},
    {RD_STREAM_CONTENTS, "fz", true},
    {RD_STREAM_CONTENTS, "ff", true},
    {RD_STREAM_CONTENTS, "fDf", true},
    {RD_STREAM_CONTENTS, "fDD", true},
    {RD_STREAM_CONTENTS, "fGD", true},
    {RD_STREAM_CONTENTS, "fDAf", true},
    {RD_STREAM_CONTENTS, "fEE", true},
    {RD_STREAM_CONTENTS, "mD", true},
    {RD_STREAM_CONTENTS, "D", true},
    {RD_STREAM_CONTENTS, "E", true},
    {RD_STREAM_CONTENTS, "fD0", true},
    {RD_STREAM_RESULTS, "OOz", false},
    {RD_STREAM_RESULTS, "f", true},
    {RD_STREAM_RESULTS, "d", true},
    {RD_STREAM_RESULTS, "o", true},
    {RD_STREAM_RESULTS, "F", true},
    {RD_STREAM_RESULTS, "R", true},
    {RD_STREAM_RESULTS, "x", true},
    {RD_STREAM_RESULTS, "b", true},
    {RD_STREAM_RESULTS, "P", true},
    {RD_STREAM_RESULTS, "D", true},
    {RD_STREAM_RESULTS, "L", true},
    {RD_STREAM_RESULTS, "k", true},
    {RD_STREAM_RESULTS, "w", true},
    {RD_STREAM_SHARE, "kPkfkdxbrRLkz", false},
    {RD_STREAM_SHARE, "xk", true},
    {RD_STREAM_SHARE, "w", true},
    {RD_STREAM_SHARE, "O", true},
    {RD_STREAM_DECISIONS, "k", true},
    {RD_STREAM_DECISIONS, "wPwPwfwxfwbrwxbrwxdwRLwlwnLz", false},
    {RD_STREAM_DECISIONS, "wPP", true},
    {RD_STREAM_DECISIONS, "fwP", true},
    {RD_STREAM_DECISIONS, "ww", true},
    {RD_STREAM_DECISIONS, "wL", true},
    {RD_STREAM_DECISIONS, "wz", true},
    {RD_STREAM_DECISIONS, "wF", true},
    {RD_STREAM_DECISIONS, "wo", true},
    {RD_STREAM_DECISIONS, "wxl", true},
    {RD_STREAM_DECISIONS, "wr", true},
    {RD_STREAM_DECISIONS, "wi", true},
    {RD_STREAM_DECISIONS, "xw", true},
    {RD_STREAM_DECISIONS, "v", true},
    {RD_STREAM_CONTENTS, "wPwfDEwbrDEwmz", false},
    {RD_STREAM_CONTENTS, "fw", true},
    {RD_STREAM_ENTRIES, "w", true},
    {RD_STREAM_ENTRIES, "k", true},
    {RD_STREAM_ENTRIES, "t", true},
};

static const unsigned char wants[] = {RD_WANT_ALL, RD_WANT_NOTHING, RD_WANT_METADATA};

// Returns the record for a letter; its WANTS are for two targets.
static struct rd_record make(char letter) {
  static const struct {
    char letter;
    enum rd_record_type type;
    uint32_t mode;
    enum rd_want want;
  } entries[] = {
      {'f', RD_RECORD_FILE, S_IFREG, RD_WANT_ALL},      {'m', RD_RECORD_FILE, S_IFREG, RD_WANT_METADATA},
      {'r', RD_RECORD_FILE, S_IFREG, RD_WANT_RESUME},   {'i', RD_RECORD_FILE, S_IFREG, RD_WANT_NOTHING},
      {'s', RD_RECORD_SYMLINK, S_IFLNK, RD_WANT_ALL},   {'p', RD_RECORD_SPECIAL, S_IFIFO, RD_WANT_ALL},
      {'l', RD_RECORD_LINK, S_IFREG, RD_WANT_ALL},      {'d', RD_RECORD_ENTER, S_IFDIR, RD_WANT_ALL},
      {'n', RD_RECORD_ENTER, S_IFDIR, RD_WANT_NOTHING}, {'u', RD_RECORD_ENTER, S_IFDIR, RD_WANT_RESUME},
      {'e', RD_RECORD_ENTER, S_IFDIR, RD_WANT_ALL}, // the target itself
      {'1', RD_RECORD_FILE, S_IFREG, RD_WANT_ALL},  // of the second source
      {'F', RD_RECORD_FAILED, 0, RD_WANT_ALL},          {'R', RD_RECORD_REMOVE, 0, RD_WANT_ALL},
      {'t', RD_RECORD_FILE, S_IFREG, RD_WANT_LINK},     {'y', RD_RECORD_SYMLINK, S_IFLNK, RD_WANT_LINK},
  };
  for (size_t i = 0; i < sizeof entries / sizeof *entries; i++) {
    if (entries[i].letter != letter) continue;
    struct rd_record record = entry(entries[i].type, entries[i].mode, letter == 'e' ? "" : "a");
    record.entry.want = entries[i].want;
    record.entry.source = letter == '1';
    return record;
  }
  switch (letter) {
  case 'h':
    return (struct rd_record){.type = RD_RECORD_HEAD, .head = {RD_TREE_VERSION, RD_STREAM_ENTRIES}};
  case 'o':
    return (struct rd_record){.type = RD_RECORD_OWNER, .owner = {false, 1, bytes(1)}};
  case 'P':
    return (struct rd_record){.type = RD_RECORD_PLACE};
  case 'L':
    return (struct rd_record){.type = RD_RECORD_LEAVE};
  case 'x':
    return (struct rd_record){.type = RD_RECORD_XATTR, .xattr = {bytes(1), bytes(1)}};
  case 'b':
    return (struct rd_record){.type = RD_RECORD_BLOCKS, .blocks = {64u << 10, 64u << 10, bytes(16)}};
  case 'D':
    return (struct rd_record){.type = RD_RECORD_DATA, .data = {0, bytes(3)}};
  case 'G': // after a hole
    return (struct rd_record){.type = RD_RECORD_DATA, .data = {5, bytes(3)}};
  case 'E':
    return (struct rd_record){.type = RD_RECORD_FILE_END, .file_end = {.state = RD_FILE_WHOLE, .size = 8}};
  case '0':
    return (struct rd_record){.type = RD_RECORD_FILE_END, .file_end = {.state = RD_FILE_WHOLE, .size = 2}};
  case 'A':
    return (struct rd_record){.type = RD_RECORD_FILE_END, .file_end = {.state = RD_FILE_AGAIN}};
  case 'X':
    return (struct rd_record){.type = RD_RECORD_FILE_END, .file_end = {.state = RD_FILE_DROPPED}};
  case 'q':
    return (struct rd_record){.type = RD_RECORD_PAD, .pad = bytes(5)};
  case 'k':
    return (struct rd_record){.type = RD_RECORD_SKIP, .skip = 3};
  case 'w':
    return (struct rd_record){.type = RD_RECORD_WANTS, .wants = {wants, 2}};
  case 'v': // for one target too many
    return (struct rd_record){.type = RD_RECORD_WANTS, .wants = {wants, 3}};
  case 'O':
    return (struct rd_record){.type = RD_RECORD_DONE, .done = {.path = bytes(1)}};
  default:
    return (struct rd_record){.type = RD_RECORD_END};
  }
}

static int open_stream(void) {
  int fd = memfd_create("stream", MFD_CLOEXEC);
  REQUIRE(fd >= 0);
  return fd;
}

static void write_stream(int fd, enum rd_stream_phase phase, const char *letters) {
  struct rd_stream_writer *writer = rd_stream_writer_create(fd, phase);
  for (const char *letter = letters; *letter != '\0'; letter++) {
    struct rd_record record = make(*letter);
    REQUIRE(rd_stream_put(writer, &record, &error));
  }
  REQUIRE(rd_stream_flush(writer, &error));
  rd_stream_writer_destroy(writer);
}

// Returns the number of records that were accepted; the reader's error is in `error`.
static size_t read_stream(int fd, enum rd_stream_phase phase, size_t most) {
  struct rd_stream_reader *reader = rd_stream_reader_create(fd, phase, NULL);
  struct rd_record record;
  size_t count = 0;
  error = (struct rd_error){0};
  if (phase == RD_STREAM_DECISIONS || phase == RD_STREAM_CONTENTS) rd_stream_expect_wants(reader, 2);
  while (count < most && rd_stream_next(reader, &record, &error)) count++;
  rd_stream_reader_destroy(reader);
  return count;
}

static void test_order(void) {
  for (size_t i = 0; i < sizeof orders / sizeof *orders; i++) {
    RD_AUTO_CLOSE int fd = open_stream();
    size_t count = strlen(orders[i].records);
    write_stream(fd, orders[i].phase, orders[i].records);
    lseek(fd, 0, SEEK_SET);
    size_t accepted = read_stream(fd, orders[i].phase, count);
    bool is_as_wanted = accepted == count - orders[i].is_refused &&
                        error.code == (orders[i].is_refused ? RD_CODE_DATA_DAMAGED : RD_CODE_OK);
    if (!CHECK(is_as_wanted)) fprintf(stderr, "  '%s' in phase %d\n", orders[i].records, (int)orders[i].phase);
  }
}

// Lists the letters of the records that target `rank` of two sees; n: a directory of which it wants nothing.
static void see(const char *letters, unsigned rank, char *seen) {
  struct rd_own_view view = {.rank = rank};
  for (const char *letter = letters; *letter != '\0'; letter++) {
    struct rd_record record = make(*letter);
    bool is_own;
    REQUIRE(rd_own_view_take(&view, &record, &is_own, &error));
    if (is_own) *seen++ = *letter == 'd' && record.entry.want == RD_WANT_NOTHING ? 'n' : *letter;
  }
  *seen = '\0';
}

static void test_own_view(void) {
  static const struct {
    const char *records, *first, *second;
  } views[] = {
      {"oPdfDEmLz", "oPdfDEmLz", "oPdfDEmLz"},
      {"wPwdwfDEfDELz", "PdfDEfDELz", "nfDELz"},
      {"wxbrDEwRRwxsl", "xbrDERRxsl", "Rl"},
      {"wfDADEFwxdL", "fDADEFxdL", "FnL"},
  };
  char seen[32];
  for (size_t i = 0; i < sizeof views / sizeof *views; i++) {
    see(views[i].records, 0, seen);
    CHECK(strcmp(seen, views[i].first) == 0);
    see(views[i].records, 1, seen);
    CHECK(strcmp(seen, views[i].second) == 0);
  }
}

// Orders that would harm one target are refused, even if the stream as a whole may have them.
static void test_own_view_of_what_cannot_be(void) {
  static const char *const refused[] = {"wPwP", "PwP", "fwP", "dLP"};
  for (size_t i = 0; i < sizeof refused / sizeof *refused; i++) {
    struct rd_own_view view = {.rank = 0};
    bool is_own, is_good = true;
    for (const char *letter = refused[i]; *letter != '\0'; letter++) {
      struct rd_record record = make(*letter);
      CHECK(is_good);
      is_good = rd_own_view_take(&view, &record, &is_own, &error);
    }
    CHECK(!is_good && error.code == RD_CODE_DATA_DAMAGED);
  }
  struct rd_own_view part = {.rank = 2};
  struct rd_record records[] = {make('v'), make('f')};
  bool is_own;
  CHECK(rd_own_view_take(&part, &records[0], &is_own, &error));
  CHECK(!rd_own_view_take(&part, &records[1], &is_own, &error) && error.code == RD_CODE_DATA_DAMAGED);
}

// A SKIP is written before the next record, and when the stream is flushed.
static void test_skips(void) {
  RD_AUTO_CLOSE int fd = open_stream();
  struct rd_stream_writer *writer = rd_stream_writer_create(fd, RD_STREAM_SHARE);
  struct rd_record record = make('f');
  for (int i = 0; i < 5; i++) {
    rd_stream_skip(writer);
    if (i == 1) REQUIRE(rd_stream_put(writer, &record, &error));
    if (i == 3) REQUIRE(rd_stream_flush(writer, &error));
  }
  REQUIRE(rd_stream_flush(writer, &error) && rd_stream_flush(writer, &error));
  rd_stream_writer_destroy(writer);
  lseek(fd, 0, SEEK_SET);
  struct rd_stream_reader *reader = rd_stream_reader_create(fd, RD_STREAM_SHARE, NULL);
  const uint64_t skips[] = {2, 0, 2, 1};
  for (size_t i = 0; i < sizeof skips / sizeof *skips; i++) {
    REQUIRE(rd_stream_next(reader, &record, &error));
    CHECK(skips[i] == 0 ? record.type == RD_RECORD_FILE : record.type == RD_RECORD_SKIP && record.skip == skips[i]);
  }
  CHECK(!rd_stream_next(reader, &record, &error) && error.code == RD_CODE_PEER_LOST);
  rd_stream_reader_destroy(reader);
}

static void test_head(void) {
  const struct rd_record heads[] = {
      {.type = RD_RECORD_HEAD, .head = {2, RD_STREAM_ENTRIES}},
      {.type = RD_RECORD_HEAD, .head = {RD_TREE_VERSION, RD_STREAM_CONTENTS}},
      {.type = RD_RECORD_END},
  };
  for (size_t i = 0; i < sizeof heads / sizeof *heads; i++) {
    RD_AUTO_CLOSE int fd = open_stream();
    REQUIRE(rd_write_all(fd, encoded, rd_record_encode(&heads[i], encoded)));
    write_stream(fd, RD_STREAM_ENTRIES, "z");
    lseek(fd, 0, SEEK_SET);
    CHECK(read_stream(fd, RD_STREAM_ENTRIES, 9) == 0 && error.code == RD_CODE_DATA_DAMAGED);
  }
}

// A stream that is cut off anywhere means a lost peer; all complete records are accepted first.
static void test_cut_off(void) {
  RD_AUTO_CLOSE int fd = open_stream();
  write_stream(fd, RD_STREAM_CONTENTS, "oPfDGEbrDEdxsLz");
  for (off_t left = lseek(fd, 0, SEEK_END) - 1; left >= 0; left--) {
    REQUIRE(ftruncate(fd, left) == 0);
    lseek(fd, 0, SEEK_SET);
    CHECK(read_stream(fd, RD_STREAM_CONTENTS, 99) < 15 && error.code == RD_CODE_PEER_LOST);
  }
}

static void test_depth(void) {
  char deep[RD_DEPTH_MAX + 2];
  memset(deep, 'd', sizeof deep - 1);
  deep[sizeof deep - 1] = '\0';
  RD_AUTO_CLOSE int fd = open_stream();
  write_stream(fd, RD_STREAM_ENTRIES, deep);
  lseek(fd, 0, SEEK_SET);
  CHECK(read_stream(fd, RD_STREAM_ENTRIES, sizeof deep) == RD_DEPTH_MAX && error.code == RD_CODE_DATA_DAMAGED);

  RD_AUTO_CLOSE int shallow = open_stream();
  struct rd_record record;
  write_stream(shallow, RD_STREAM_ENTRIES, "ddLdLLz");
  lseek(shallow, 0, SEEK_SET);
  struct rd_stream_reader *reader = rd_stream_reader_create(shallow, RD_STREAM_ENTRIES, NULL);
  for (const unsigned *depth = (const unsigned[]){1, 2, 1, 2, 1, 0, 0, 9}; *depth != 9; depth++) {
    REQUIRE(rd_stream_next(reader, &record, &error));
    CHECK(rd_stream_depth(reader) == *depth);
  }
  rd_stream_reader_destroy(reader);
}

// The attributes of one entry together have a limit, which applies separately to the next entry.
static void test_many_attributes(void) {
  const struct rd_record xattr = {.type = RD_RECORD_XATTR, .xattr = {bytes(1), bytes(64u << 10)}}, file = make('f');
  const size_t most = RD_XATTRS_MAX_BYTES / rd_xattr_bytes(&xattr.xattr);
  RD_AUTO_CLOSE int fd = open_stream();
  struct rd_stream_writer *writer = rd_stream_writer_create(fd, RD_STREAM_ENTRIES);
  for (size_t i = 0; i < 2 * most + 2; i++) {
    if (i == most) REQUIRE(rd_stream_put(writer, &file, &error));
    REQUIRE(rd_stream_put(writer, &xattr, &error));
  }
  REQUIRE(rd_stream_flush(writer, &error));
  rd_stream_writer_destroy(writer);
  lseek(fd, 0, SEEK_SET);
  CHECK(read_stream(fd, RD_STREAM_ENTRIES, SIZE_MAX) == 2 * most + 1 && error.code == RD_CODE_DATA_DAMAGED);
}

// A source may name a limited number of users, and as many groups.
static void test_many_owners(void) {
  RD_AUTO_CLOSE int fd = open_stream();
  struct rd_stream_writer *writer = rd_stream_writer_create(fd, RD_STREAM_ENTRIES);
  for (uint32_t i = 0; i < 2 * RD_OWNERS_MAX + 1; i++) {
    struct rd_record owner = {.type = RD_RECORD_OWNER, .owner = {i < RD_OWNERS_MAX, i, bytes(1)}};
    REQUIRE(rd_stream_put(writer, &owner, &error));
  }
  REQUIRE(rd_stream_flush(writer, &error));
  rd_stream_writer_destroy(writer);
  lseek(fd, 0, SEEK_SET);
  CHECK(read_stream(fd, RD_STREAM_ENTRIES, SIZE_MAX) == 2 * RD_OWNERS_MAX && error.code == RD_CODE_DATA_DAMAGED);
}

struct feeding {
  int from, to;
  size_t piece;
};

static void *feed(void *context) {
  const struct feeding *feeding = context;
  RD_AUTO_FREE char *piece = rd_memory_new(feeding->piece, 1);
  for (ssize_t count; (count = read(feeding->from, piece, feeding->piece)) > 0;)
    if (!rd_write_all(feeding->to, piece, (size_t)count)) break;
  close(feeding->to);
  return NULL;
}

static size_t read_in_pieces(int from, size_t piece, bool blocks) {
  int ends[2];
  pthread_t feeder;
  lseek(from, 0, SEEK_SET);
  REQUIRE(pipe2(ends, O_CLOEXEC | (blocks ? 0 : O_NONBLOCK)) == 0);
  struct feeding feeding = {from, ends[1], piece};
  REQUIRE(pthread_create(&feeder, NULL, feed, &feeding) == 0);
  size_t count = read_stream(ends[0], RD_STREAM_CONTENTS, SIZE_MAX);
  close(ends[0]);
  pthread_join(feeder, NULL);
  return count;
}

static void test_pieces(void) {
  RD_AUTO_CLOSE int fd = open_stream();
  write_stream(fd, RD_STREAM_CONTENTS, "oPfDGEbrDEdxsLz");
  CHECK(read_in_pieces(fd, 1, true) == 15 && error.code == RD_CODE_PEER_LOST);
  CHECK(read_in_pieces(fd, 7, false) == 15);

  // Records of the maximum length, so that one is split at the end of the buffer.
  struct rd_stream_writer *writer = rd_stream_writer_create(fd, RD_STREAM_CONTENTS);
  const struct rd_record file = make('f');
  REQUIRE(ftruncate(fd, 0) == 0 && lseek(fd, 0, SEEK_SET) == 0 && rd_stream_put(writer, &file, &error));
  for (uint64_t i = 0; i < 20; i++) {
    struct rd_record data = {.type = RD_RECORD_DATA, .data = {i << 20, bytes(RD_RECORD_DATA_MAX_BYTES - i % 3)}};
    REQUIRE(rd_stream_put(writer, &data, &error));
  }
  REQUIRE(rd_stream_flush(writer, &error));
  rd_stream_writer_destroy(writer);
  CHECK(read_in_pieces(fd, 60001, true) == 21 && error.code == RD_CODE_PEER_LOST);
}

// The peer of test_flush_before_waits(): sends nothing more until the beginning of the output has arrived.
static void *answer(void *context) {
  const int *fds = context;
  unsigned char head[RD_RECORD_HEAD_BYTES + 8];
  struct rd_record end = {.type = RD_RECORD_END};
  unsigned char bytes_of_end[256];
  if (read(fds[0], head, sizeof head) != sizeof head) return NULL;
  (void)rd_write_all(fds[1], bytes_of_end, rd_record_encode(&end, bytes_of_end));
  return NULL;
}

static void test_flush_before_waits(void) {
  int in[2], out[2];
  pthread_t peer;
  struct rd_record record;
  REQUIRE(pipe2(in, O_CLOEXEC) == 0 && pipe2(out, O_CLOEXEC) == 0);
  write_stream(in[1], RD_STREAM_ENTRIES, "f");
  struct rd_stream_writer *writer = rd_stream_writer_create(out[1], RD_STREAM_DECISIONS);
  struct rd_stream_reader *reader = rd_stream_reader_create(in[0], RD_STREAM_ENTRIES, writer);
  int fds[] = {out[0], in[1]};
  REQUIRE(pthread_create(&peer, NULL, answer, fds) == 0);
  CHECK(rd_stream_next(reader, &record, &error) && record.type == RD_RECORD_FILE);
  CHECK(rd_stream_next(reader, &record, &error) && record.type == RD_RECORD_END);
  pthread_join(peer, NULL);

  close(out[0]); // the next program is gone
  record = make('f');
  CHECK(rd_stream_put(writer, &record, &error));
  CHECK(!rd_stream_next(reader, &record, &error) && error.code == RD_CODE_CLOSED);
  rd_stream_reader_destroy(reader);
  rd_stream_writer_destroy(writer);
  close(in[0]), close(in[1]), close(out[1]);
}

// A PAD is not returned, and comes only directly before DATA.
static void test_pads(void) {
  static const struct {
    const char *records;
    int returned; // before one that is refused
  } cases[] = {{"fqGEz", 4}, {"fqDqGEz", 5}, {"fqqGEz", 1}, {"fqEz", 1}, {"qfGEz", 0}};
  for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
    RD_AUTO_CLOSE int fd = open_stream();
    struct rd_record record;
    int returned = 0;
    write_stream(fd, RD_STREAM_CONTENTS, cases[i].records);
    lseek(fd, 0, SEEK_SET);
    struct rd_stream_reader *reader = rd_stream_reader_create(fd, RD_STREAM_CONTENTS, NULL);
    error.code = RD_CODE_OK;
    do {
      if (!rd_stream_next(reader, &record, &error)) break;
      returned++;
    } while (record.type != RD_RECORD_END);
    CHECK(returned == cases[i].returned);
    CHECK(error.code == (record.type == RD_RECORD_END ? RD_CODE_OK : RD_CODE_DATA_DAMAGED));
    rd_stream_reader_destroy(reader);
  }
}

static void test_descriptors_that_fail(void) {
  struct rd_record record = make('f');
  struct rd_stream_reader *reader = rd_stream_reader_create(-1, RD_STREAM_ENTRIES, NULL);
  CHECK(!rd_stream_next(reader, &record, &error) && error.code == RD_CODE_SOURCE_UNREADABLE);
  rd_stream_reader_destroy(reader);
  struct rd_stream_writer *writer = rd_stream_writer_create(-1, RD_STREAM_ENTRIES);
  CHECK(!rd_stream_flush(writer, &error) && error.code == RD_CODE_SINK_UNWRITABLE);
  rd_stream_writer_destroy(writer);
  rd_stream_reader_destroy(NULL);
  rd_stream_writer_destroy(NULL);
}

int main(void) {
  signal(SIGPIPE, SIG_IGN);
  test_order();
  test_own_view();
  test_own_view_of_what_cannot_be();
  test_skips();
  test_head();
  test_cut_off();
  test_depth();
  test_many_attributes();
  test_many_owners();
  test_pieces();
  test_flush_before_waits();
  test_pads();
  test_descriptors_that_fail();
  return test_end("rdtree stream");
}
