// SPDX-License-Identifier: Apache-2.0
// Fuzzes the reader of tree streams, in each phase.
// The first byte of the input chooses the phase, one or two targets, and the form of the rest: a stream as it is, or
// records, each with its type, length and payload. Each accepted name and path must be valid, each accepted record must
// be encoded to the same bytes, and a stream must have left all directories at its end.
#include "base/bytes.h"
#include "fuzz.h"
#include "stream/own_view.h"
#include "stream/stream_reader.h"

#include <sys/mman.h>
#include <unistd.h>

#define STREAM_MAX_BYTES (1u << 16)

struct stream {
  unsigned char bytes[STREAM_MAX_BYTES];
  size_t count, checked; // `checked`: bytes of the records read so far
  unsigned depth;
};

static void make_stream(struct stream *stream, enum rd_stream_phase phase, struct fuzz_input *input);
static void make_record(struct stream *stream, struct fuzz_input *input);
static int open_stream(const struct stream *stream);
static void check_record(struct stream *stream, const struct rd_stream_reader *reader, const struct rd_record *record);
static void check_names(const struct rd_record *record);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  static struct stream stream;
  struct fuzz_input input = {data, size};
  struct rd_record record;
  struct rd_error error;
  uint8_t how = fuzz_u8(&input);
  enum rd_stream_phase phase = how & 16 ? RD_STREAM_SHARE : (enum rd_stream_phase)(RD_STREAM_ENTRIES + how % 4);
  stream.count = stream.checked = stream.depth = 0;
  if (how & 4) {
    const uint8_t *bytes;
    stream.count = fuzz_take(&input, STREAM_MAX_BYTES, &bytes);
    if (stream.count > 0) memcpy(stream.bytes, bytes, stream.count);
  } else {
    make_stream(&stream, phase, &input);
  }
  struct rd_stream_reader *reader = rd_stream_reader_create(open_stream(&stream), phase, NULL);
  struct rd_own_view view = {.rank = 1};
  bool is_good, is_own;
  if (how & 8) rd_stream_expect_wants(reader, 2);
  while ((is_good = rd_stream_next(reader, &record, &error))) {
    check_record(&stream, reader, &record);
    is_good = rd_own_view_take(&view, &record, &is_own, &error);
    if (!is_good) break;
    if (record.type == RD_RECORD_END) break;
  }
  if (is_good) FUZZ_REQUIRE(stream.depth == 0 && !rd_stream_next(reader, &record, &error));
  FUZZ_REQUIRE(error.code == RD_CODE_DATA_DAMAGED || error.code == RD_CODE_PEER_LOST);
  rd_stream_reader_destroy(reader);
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

static void check_record(struct stream *stream, const struct rd_stream_reader *reader, const struct rd_record *record) {
  static unsigned char encoded[STREAM_MAX_BYTES + 256];
  if (stream->checked == 0) stream->checked = 2 * RD_RECORD_HEAD_BYTES; // the HEAD
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
