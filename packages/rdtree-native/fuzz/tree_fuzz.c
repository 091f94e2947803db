// SPDX-License-Identifier: Apache-2.0
// Fuzzes the reader of tree streams, in each phase.
// The first byte of the input chooses the phase, one or two targets, a descriptor or a ring, and the form of the rest:
// a stream as it is, or records, each with its type, length and payload. Each accepted name and path must be valid,
// each accepted record must be encoded to the same bytes, and a stream must have left all directories at its end.
// A request for the sources `a` and `b/` without `k` must accept no other name, nor one for the list `a`, `b/c`.
#include "base/bytes.h"
#include "fuzz.h"
#include "pattern/request.h"
#include "stream/own_view.h"
#include "stream/stream_reader.h"

#include <sys/mman.h>
#include <unistd.h>

#define STREAM_MAX_BYTES (1u << 16)

struct stream {
  unsigned char bytes[STREAM_MAX_BYTES];
  size_t count, checked; // `checked`: bytes of the records read so far
  unsigned depth;
  bool is_in_contents; // of `b/`
  unsigned char top;   // with a list: the name of the directory of depth 1
};

static void make_stream(struct stream *stream, enum rd_stream_phase phase, struct fuzz_input *input);
static void make_record(struct stream *stream, struct fuzz_input *input);
static int open_stream(const struct stream *stream);
static struct rd_shared_ring *fill_ring(const struct stream *stream);
static void skip_pads(struct stream *stream);
static void check_record(struct stream *stream, const struct rd_stream_reader *reader, const struct rd_record *record);
static void check_names(const struct rd_record *record);
static struct rd_request *make_request(uint8_t how);
static void check_request(struct stream *stream, const struct rd_record *record, uint8_t how);
static void check_listed(struct stream *stream, const struct rd_record *record);
static bool is_letter(const struct rd_record *record, char letter);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  static struct stream stream;
  struct fuzz_input input = {data, size};
  struct rd_record record;
  struct rd_error error;
  uint8_t how = fuzz_u8(&input);
  bool is_share = (how & 48) == 16;
  enum rd_stream_phase phase = is_share ? RD_STREAM_SHARE : (enum rd_stream_phase)(RD_STREAM_ENTRIES + how % 4);
  stream.count = stream.checked = stream.depth = 0;
  stream.is_in_contents = false;
  if (how & 4) {
    const uint8_t *bytes;
    stream.count = fuzz_take(&input, STREAM_MAX_BYTES, &bytes);
    if (stream.count > 0) memcpy(stream.bytes, bytes, stream.count);
  } else {
    make_stream(&stream, phase, &input);
  }
  struct rd_stream_reader *reader = rd_stream_reader_create(open_stream(&stream), phase, NULL);
  struct rd_shared_ring *shared = how & 128 ? fill_ring(&stream) : NULL;
  struct rd_ring_reader *ring = shared != NULL ? rd_ring_reader_create(shared, open_stream(&stream)) : NULL;
  if (ring != NULL) rd_stream_read_from(reader, ring);
  struct rd_own_view view = {.rank = 1};
  struct rd_request *request = make_request(how);
  bool is_good, is_own;
  if (how & 8) rd_stream_expect_wants(reader, 2);
  while ((is_good = rd_stream_next(reader, &record, &error))) {
    check_record(&stream, reader, &record);
    is_good = rd_own_view_take(&view, &record, &is_own, &error);
    if (!is_good) break;
    if (is_own && request != NULL) {
      is_good = rd_request_check(request, &record, -1, &error);
      if (!is_good) break;
      check_request(&stream, &record, how);
    }
    if (record.type == RD_RECORD_END) break;
  }
  if (is_good) FUZZ_REQUIRE(stream.depth == 0 && !rd_stream_next(reader, &record, &error));
  bool is_refused = request != NULL && error.code == RD_CODE_NOT_REQUESTED;
  FUZZ_REQUIRE(is_refused || error.code == RD_CODE_DATA_DAMAGED || error.code == RD_CODE_PEER_LOST);
  rd_request_destroy(request);
  rd_stream_reader_destroy(reader);
  rd_ring_reader_destroy(ring);
  rd_shared_ring_destroy(shared);
  return 0;
}

static void make_stream(struct stream *stream, enum rd_stream_phase phase, struct fuzz_input *input) {
  const struct rd_record head = {.type = RD_RECORD_HEAD, .head = {RD_TREE_VERSION, phase}};
  stream->count = rd_record_encode(&head, stream->bytes);
  while (input->left > 0) make_record(stream, input);
}

static void make_record(struct stream *stream, struct fuzz_input *input) {
  const uint8_t *payload;
  uint8_t type = fuzz_u8(input);
  size_t count = fuzz_take(input, fuzz_u16(input), &payload);
  if (count + RD_RECORD_HEAD_BYTES > STREAM_MAX_BYTES - stream->count) return;
  unsigned char *at = stream->bytes + stream->count;
  rd_put_u32(at, (uint32_t)count);
  rd_put_u32(at + 4, type);
  if (count > 0) memcpy(at + RD_RECORD_HEAD_BYTES, payload, count);
  stream->count += RD_RECORD_HEAD_BYTES + count;
}

// Returns a descriptor at the beginning of the stream, the same one for all streams.
static int open_stream(const struct stream *stream) {
  static int fd = -1;
  if (fd < 0) fd = memfd_create("stream", MFD_CLOEXEC);
  FUZZ_REQUIRE(fd >= 0 && ftruncate(fd, 0) == 0);
  FUZZ_REQUIRE(pwrite(fd, stream->bytes, stream->count, 0) == (ssize_t)stream->count && lseek(fd, 0, SEEK_SET) == 0);
  return fd;
}

// Returns the reader's side of a ring with the whole stream. The descriptor of the stream ends it: it is readable.
static struct rd_shared_ring *fill_ring(const struct stream *stream) {
  struct rd_ring_fds sides[2];
  struct rd_error error;
  FUZZ_REQUIRE(rd_ring_fds_create(sides, &error));
  struct rd_shared_ring *writer = rd_shared_ring_open(RD_RING_WRITER, sides[0], &error);
  struct rd_shared_ring *reader = rd_shared_ring_open(RD_RING_READER, sides[1], &error);
  FUZZ_REQUIRE(writer != NULL && reader != NULL && rd_shared_ring_make(writer, STREAM_MAX_BYTES, &error));
  FUZZ_REQUIRE(rd_ring_put(rd_shared_ring_get(writer, &error), stream->bytes, stream->count));
  rd_shared_ring_destroy(writer);
  return reader;
}

// The reader does not return them.
static void skip_pads(struct stream *stream) {
  while (stream->count - stream->checked >= RD_RECORD_HEAD_BYTES &&
         rd_get_u32(stream->bytes + stream->checked + 4) == RD_RECORD_PAD)
    stream->checked += RD_RECORD_HEAD_BYTES + rd_get_u32(stream->bytes + stream->checked);
}

static void check_record(struct stream *stream, const struct rd_stream_reader *reader, const struct rd_record *record) {
  static unsigned char encoded[STREAM_MAX_BYTES + 256];
  if (stream->checked == 0) stream->checked = 2 * RD_RECORD_HEAD_BYTES; // the HEAD
  skip_pads(stream);
  FUZZ_REQUIRE(rd_record_bound(record) <= sizeof encoded);
  size_t count = rd_record_encode(record, encoded);
  FUZZ_REQUIRE(count <= rd_record_bound(record) && count <= stream->count - stream->checked);
  FUZZ_REQUIRE(memcmp(encoded, stream->bytes + stream->checked, count) == 0);
  stream->checked += count;
  if (record->type == RD_RECORD_ENTER) stream->depth++;
  if (record->type == RD_RECORD_LEAVE) stream->depth--;
  FUZZ_REQUIRE(stream->depth == rd_stream_depth(reader) && stream->depth <= RD_DEPTH_MAX);
  check_names(record);
}

static void check_names(const struct rd_record *record) {
  if (record->type == RD_RECORD_DONE) FUZZ_REQUIRE(record->done.path.count == 0 || rd_path_is_valid(record->done.path));
  if (record->type == RD_RECORD_LINK) FUZZ_REQUIRE(rd_path_is_valid(record->entry.target));
  bool has_name =
      rd_record_is_entry(record->type) || record->type == RD_RECORD_REMOVE || record->type == RD_RECORD_FAILED;
  if (!has_name || (record->type == RD_RECORD_ENTER && record->entry.name.count == 0)) return;
  const struct rd_bytes name = record->entry.name;
  FUZZ_REQUIRE(name.count >= 1 && name.count <= RD_NAME_MAX_BYTES);
  for (size_t i = 0; i < name.count; i++) FUZZ_REQUIRE(name.at[i] != '/' && name.at[i] != '\0');
  FUZZ_REQUIRE(name.at[0] != '.' || name.count > 2 || (name.count == 2 && name.at[1] != '.'));
}

// NULL: none.
static struct rd_request *make_request(uint8_t how) {
  static char a[] = "a", b[] = "b/", k[] = "k", target[] = "/dev/null/t", list[] = "b//c\0./a/\0../x\0";
  static char *sources[] = {a, b};
  static struct rd_tree_pattern patterns[] = {{false, k}};
  struct rd_error error;
  static struct rd_tree_settings settings;
  if (!(how & 32)) return NULL;
  settings = (struct rd_tree_settings){.role = how & 64 ? RD_TREE_WRITE : RD_TREE_COMPARE,
                                       .sources = sources,
                                       .source_count = 2,
                                       .patterns = patterns,
                                       .pattern_count = 1,
                                       .target = target,
                                       .recursive = true,
                                       .remove = how & 128};
  if (how & 16) {
    settings.sources = &sources[1];
    settings.source_count = 1;
    settings.list = RD_LIST_NUL;
    settings.list_text = list;
    settings.list_bytes = sizeof list - 1;
  }
  return rd_request_create(&settings, &error);
}

// A record that was accepted; the depth is that after it.
static void check_request(struct stream *stream, const struct rd_record *record, uint8_t how) {
  const struct rd_entry *entry = &record->entry;
  bool is_directory = record->type == RD_RECORD_ENTER;
  bool has_name = rd_record_is_entry(record->type) || record->type == RD_RECORD_REMOVE;
  bool is_k = has_name && is_letter(record, 'k');
  FUZZ_REQUIRE(record->type != RD_RECORD_LINK && record->type != RD_RECORD_OWNER && record->type != RD_RECORD_XATTR);
  if (record->type == RD_RECORD_SPECIAL) FUZZ_REQUIRE(!(how & 64)); // compare skips it
  if (record->type == RD_RECORD_REMOVE) FUZZ_REQUIRE(!is_k && (stream->depth > 0 || stream->is_in_contents));
  if (!rd_record_is_entry(record->type)) return;
  if (stream->depth - is_directory > 0) FUZZ_REQUIRE(!is_k);
  if (how & 16) {
    check_listed(stream, record);
  } else if (stream->depth - is_directory > 0) {
    return;
  } else if (entry->source == 1) {
    FUZZ_REQUIRE(is_directory && entry->name.count == 0);
    stream->is_in_contents = true;
  } else {
    FUZZ_REQUIRE(entry->source == 0 && is_letter(record, 'a'));
  }
}

static void check_listed(struct stream *stream, const struct rd_record *record) {
  bool is_directory = record->type == RD_RECORD_ENTER;
  switch (stream->depth - is_directory) {
  case 0:
    FUZZ_REQUIRE(is_directory && record->entry.name.count == 0 && record->entry.source == 0);
    stream->is_in_contents = true;
    break;
  case 1:
    FUZZ_REQUIRE(is_letter(record, 'a') || (is_directory && is_letter(record, 'b')));
    if (is_directory) stream->top = record->entry.name.at[0];
    break;
  case 2:
    FUZZ_REQUIRE(stream->top == 'a' || is_letter(record, 'c'));
    break;
  default:
    break;
  }
}

static bool is_letter(const struct rd_record *record, char letter) {
  return record->entry.name.count == 1 && record->entry.name.at[0] == (unsigned char)letter;
}
