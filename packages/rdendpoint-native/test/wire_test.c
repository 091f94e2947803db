// SPDX-License-Identifier: Apache-2.0
#include "wire/wire.h"

#include "base/hex.h"
#include "base/text.h"
#include "test.h"

#include <errno.h>
#include <string.h>

static struct rd_error error;

// Returns true if the last error is damaged data with this message.
static bool damaged(const char *words) {
  return error.code == RD_CODE_DATA_DAMAGED && strcmp(error.message, words) == 0;
}

static bool decodes(uint8_t type, uint8_t flags, size_t payload_bytes) {
  unsigned char message[RD_HEADER_BYTES] = {type, flags};
  struct rd_frame frame;
  return rd_frame_decode(message, RD_HEADER_BYTES + payload_bytes, &frame, &error);
}

static void frame_layout(void) {
  struct rd_frame frame = {.type = RD_FRAME_DATA,
                           .flags = RD_FLAG_SEALED,
                           .epoch = 0x01020304,
                           .offset = 0x1112131415161718,
                           .sequence = 0x2122232425262728};
  unsigned char bytes[RD_HEADER_BYTES];
  char text[2 * RD_HEADER_BYTES + 1];
  rd_frame_encode(&frame, bytes);
  CHECK(rd_hex_encode(bytes, sizeof bytes, text, sizeof text));
  CHECK(strcmp(text, "020100000403020118171615141312112827262524232221") == 0);
  struct rd_frame same = {0};
  CHECK(rd_frame_decode(bytes, RD_HEADER_BYTES + 17, &same, &error));
  CHECK(same.type == frame.type && same.flags == frame.flags && same.stream == 0 && same.epoch == frame.epoch);
  CHECK(same.offset == frame.offset && same.sequence == frame.sequence);
}

static void frame_lengths(void) {
  static const struct {
    uint8_t type;
    size_t least, most;
  } ranges[] = {
      {RD_FRAME_DATA, 1, RD_SLOT_MAX_BYTES},
      {RD_FRAME_END, 20, 84},
      {RD_FRAME_ABORT, 4, 1028},
      {RD_FRAME_ACK, 8, 8},
      {RD_FRAME_DONE, 0, 0},
      {RD_FRAME_CLOSED, 0, 0},
      {RD_FRAME_PING, 0, 0},
      {RD_FRAME_PONG, 0, 0},
      {RD_FRAME_BYE, 0, 0},
      {RD_FRAME_RESUME, 0, 0},
  };
  for (size_t i = 0; i < sizeof ranges / sizeof ranges[0]; i++) {
    size_t least = ranges[i].least + RD_TAG_BYTES, most = ranges[i].most + RD_TAG_BYTES;
    CHECK(decodes(ranges[i].type, RD_FLAG_SEALED, least));
    CHECK(decodes(ranges[i].type, RD_FLAG_SEALED, most));
    CHECK(!decodes(ranges[i].type, RD_FLAG_SEALED, least - 1));
    CHECK(!decodes(ranges[i].type, RD_FLAG_SEALED, most + 1));
    CHECK(decodes(ranges[i].type, 0, ranges[i].most) == (ranges[i].type == RD_FRAME_DATA));
  }
  CHECK(decodes(RD_FRAME_DATA, RD_FLAG_COMPRESSED, 5) && !decodes(RD_FRAME_DATA, RD_FLAG_COMPRESSED, 4));
  CHECK(decodes(RD_FRAME_DATA, RD_FLAG_COMPRESSED | RD_FLAG_SEALED, 21));
  CHECK(!decodes(RD_FRAME_DATA, RD_FLAG_COMPRESSED | RD_FLAG_SEALED, 20));
  CHECK(decodes(RD_FRAME_HANDSHAKE, 0, 1) && decodes(RD_FRAME_HANDSHAKE, 0, 16384 - 24));
  CHECK(!decodes(RD_FRAME_HANDSHAKE, 0, 0) && !decodes(RD_FRAME_HANDSHAKE, 0, 16384 - 23));
  CHECK(!decodes(RD_FRAME_HANDSHAKE, RD_FLAG_SEALED, 100));
  CHECK(decodes(RD_FRAME_DATA, RD_FLAG_MACED, 17) && !decodes(RD_FRAME_DATA, RD_FLAG_MACED, 16));
  CHECK(decodes(RD_FRAME_DATA, RD_FLAG_MACED, RD_SLOT_MAX_BYTES + RD_TAG_BYTES));
  CHECK(!decodes(RD_FRAME_DATA, RD_FLAG_MACED, RD_SLOT_MAX_BYTES + RD_TAG_BYTES + 1));
  CHECK(decodes(RD_FRAME_DATA, RD_FLAG_MACED | RD_FLAG_COMPRESSED, 21));
  CHECK(!decodes(RD_FRAME_DATA, RD_FLAG_MACED | RD_FLAG_COMPRESSED, 20));
}

static void frame_refusals(void) {
  unsigned char message[RD_HEADER_BYTES] = {RD_FRAME_DATA};
  struct rd_frame frame;
  for (unsigned type = 0; type < 256; type++)
    if (type < RD_FRAME_HANDSHAKE || type > RD_FRAME_RESUME) CHECK(!decodes((uint8_t)type, RD_FLAG_SEALED, 16));
  for (unsigned flag = 8; flag < 256; flag <<= 1) CHECK(!decodes(RD_FRAME_DATA, (uint8_t)flag, 100));
  CHECK(!decodes(RD_FRAME_DATA, RD_FLAG_SEALED | RD_FLAG_MACED, 100));
  for (unsigned type = RD_FRAME_HANDSHAKE; type <= RD_FRAME_RESUME; type++)
    for (size_t bytes = 0; type != RD_FRAME_DATA && bytes <= 52; bytes++) {
      CHECK(!decodes((uint8_t)type, RD_FLAG_SEALED | RD_FLAG_COMPRESSED, bytes));
      CHECK(!decodes((uint8_t)type, RD_FLAG_MACED, bytes));
    }
  for (size_t bytes = 0; bytes < RD_HEADER_BYTES; bytes++)
    CHECK(!rd_frame_decode(message, bytes, &frame, &error) && damaged("the peer sent a message that is not a frame"));
  CHECK(error.code == RD_CODE_DATA_DAMAGED);
  CHECK(rd_frame_decode(message, RD_HEADER_BYTES + 1, &frame, &error));
  message[3] = 1; // the stream
  CHECK(!rd_frame_decode(message, RD_HEADER_BYTES + 1, &frame, &error));
  CHECK(damaged("the peer sent a malformed frame of type 2"));
  message[3] = 0;
  message[16] = 1; // a sequence, although not sealed
  CHECK(!rd_frame_decode(message, RD_HEADER_BYTES + 1, &frame, &error));
}

// Encoding an accepted frame again gives the same bytes.
static void random_frames(void) {
  unsigned char message[RD_HEADER_BYTES], same[RD_HEADER_BYTES];
  struct rd_frame frame;
  unsigned accepted = 0;
  uint64_t state = 1;
  for (unsigned i = 0; i < 200000; i++) {
    for (size_t at = 0; at < sizeof message; at++) {
      state = state * 6364136223846793005u + 1442695040888963407u;
      message[at] = (unsigned char)(state >> 56);
    }
    message[0] %= 13;
    message[1] %= 9;
    if (i % 2 == 0) message[2] = message[3] = 0;
    if (!rd_frame_decode(message, RD_HEADER_BYTES + (i >> 8) % 64, &frame, &error)) continue;
    rd_frame_encode(&frame, same);
    bool reads_alike = memcmp(message, same, sizeof same) == 0;
    if (!reads_alike) CHECK(reads_alike);
    accepted++;
  }
  CHECK(accepted > 1000);
}

static void end_and_ack(void) {
  struct rd_end end = {.digest = {1, 2, 3}, .producer_status = 0x01020304}, same_end;
  unsigned char bytes[RD_END_MAX_BYTES];
  CHECK(rd_end_encode(&end, bytes) == RD_END_BYTES);
  CHECK(bytes[0] == 1 && bytes[16] == 4 && bytes[19] == 1);
  CHECK(rd_end_decode(bytes, RD_END_BYTES, &same_end, &error) && memcmp(&end, &same_end, sizeof end) == 0);
  CHECK(!rd_end_decode(bytes, RD_END_BYTES - 1, &same_end, &error) && damaged("the peer sent a malformed END"));
  end.is_signed = true;
  memset(end.signature, 9, sizeof end.signature);
  CHECK(rd_end_encode(&end, bytes) == sizeof bytes && bytes[RD_END_BYTES] == 9);
  CHECK(rd_end_decode(bytes, sizeof bytes, &same_end, &error) && memcmp(&end, &same_end, sizeof end) == 0);
  CHECK(!rd_end_decode(bytes, sizeof bytes - 1, &same_end, &error));
  uint64_t frames = 0;
  rd_ack_encode(0x0102030405060708, bytes);
  CHECK(bytes[0] == 8 && rd_ack_decode(bytes, 8, &frames, &error) && frames == 0x0102030405060708);
  CHECK(!rd_ack_decode(bytes, 7, &frames, &error) && damaged("the peer sent a malformed ACK"));
}

static void aborts(void) {
  struct rd_abort abort = {.code = RD_CODE_SINK_UNWRITABLE, .reason = "disk full"}, same;
  unsigned char bytes[RD_CONTROL_PAYLOAD_MAX_BYTES + 1];
  size_t length = rd_abort_encode(&abort, bytes);
  CHECK(length == 4 + 9 && bytes[0] == 7);
  CHECK(rd_abort_decode(bytes, length, &same, &error));
  CHECK(same.code == RD_CODE_SINK_UNWRITABLE && strcmp(same.reason, "disk full") == 0);
  memcpy(bytes, "\xff\xff\0\0a\033[1mb\nc\0d", 14);
  CHECK(rd_abort_decode(bytes, 14, &same, &error));
  CHECK(same.code == RD_CODE_ABORTED && strcmp(same.reason, "a?[1mb?c?d") == 0);
  memset(abort.reason, 'x', sizeof abort.reason);
  abort.reason[RD_ABORT_REASON_MAX_BYTES] = '\0';
  CHECK(rd_abort_encode(&abort, bytes) == RD_CONTROL_PAYLOAD_MAX_BYTES);
  CHECK(rd_abort_decode(bytes, RD_CONTROL_PAYLOAD_MAX_BYTES, &same, &error) && strcmp(same.reason, abort.reason) == 0);
  CHECK(!rd_abort_decode(bytes, RD_CONTROL_PAYLOAD_MAX_BYTES + 1, &same, &error));
  CHECK(!rd_abort_decode(bytes, 3, &same, &error) && damaged("the peer sent a malformed ABORT"));
}

static void hellos(void) {
  struct rd_hello hello = {.version = 1, .wants = RD_PROTECTION_SEAL, .epoch = 1, .slot_bytes = 1 << 20, .slots = 8},
                  same;
  hello.small_slots = 256;
  unsigned char bytes[RD_HELLO_BYTES];
  char text[2 * RD_HELLO_BYTES + 1];
  rd_hello_encode(&hello, bytes);
  CHECK(rd_hex_encode(bytes, sizeof bytes, text, sizeof text));
  CHECK(strcmp(text, "52445048010001000000000000000000010000000000100008000000"
                     "00010000") == 0);
  CHECK(rd_hello_decode(bytes, sizeof bytes, &same, &error));
  CHECK(same.version == 1 && same.wants == RD_PROTECTION_SEAL && !same.lacks_aes && same.epoch == 1);
  CHECK(same.slot_bytes == 1 << 20 && same.slots == 8 && same.small_slots == 256 && same.features == 0);
  bytes[6] = 2;
  CHECK(rd_hello_decode(bytes, sizeof bytes, &same, &error) && same.lacks_aes && same.wants == RD_PROTECTION_NONE);
  bytes[6] = 4;
  CHECK(rd_hello_decode(bytes, sizeof bytes, &same, &error) && same.compresses && !same.lacks_aes);
  bytes[6] = 8;
  CHECK(rd_hello_decode(bytes, sizeof bytes, &same, &error) && same.wants == RD_PROTECTION_MAC);
  CHECK(!same.prefers_poly1305);
  bytes[6] = 16;
  CHECK(rd_hello_decode(bytes, sizeof bytes, &same, &error) && same.prefers_poly1305 && !same.lacks_aes);
  bytes[6] = 9; // both protections are wanted: the stronger one counts
  CHECK(rd_hello_decode(bytes, sizeof bytes, &same, &error) && same.wants == RD_PROTECTION_SEAL);
  hello = (struct rd_hello){.version = 1, .wants = RD_PROTECTION_MAC, .prefers_poly1305 = true};
  rd_hello_encode(&hello, bytes);
  CHECK(bytes[6] == 24 && bytes[7] == 0);
  CHECK(!rd_hello_decode(bytes, sizeof bytes - 1, &same, &error));
  bytes[0] = 'X';
  CHECK(!rd_hello_decode(bytes, sizeof bytes, &same, &error) && damaged("the peer sent a malformed HELLO"));
}

static bool cleans_to(const char *dirty, const char *clean) {
  char text[64];
  snprintf(text, sizeof text, "%s", dirty);
  rd_text_clean(text, strlen(text));
  return strcmp(text, clean) == 0;
}

static void foreign_text(void) {
  CHECK(cleans_to("grüße 世界 \xf0\x9f\x98\x80", "grüße 世界 \xf0\x9f\x98\x80"));
  CHECK(cleans_to("a\tb\177c", "a?b?c"));
  CHECK(cleans_to("\xc2\x9b"
                  "31m",
                  "??31m"));                                        // a control character beyond ASCII
  CHECK(cleans_to("\xc0\xaf\xe0\x80\xaf", "?????"));                // overlong
  CHECK(cleans_to("\xed\xa0\x80\xf4\x90\x80\x80\xff", "????????")); // a surrogate, too large, never valid
  CHECK(cleans_to("end \xe4\xb8", "end ??"));                       // cut off
}

static void hexadecimal(void) {
  unsigned char bytes[4];
  char text[9];
  size_t count;
  CHECK(rd_hex_decode("00fFa1", 6, bytes, sizeof bytes, &count) && count == 3 && memcmp(bytes, "\x00\xff\xa1", 3) == 0);
  CHECK(rd_hex_decode("", 0, bytes, sizeof bytes, &count) && count == 0);
  CHECK(!rd_hex_decode("123", 3, bytes, sizeof bytes, &count));
  CHECK(!rd_hex_decode("1g", 2, bytes, sizeof bytes, &count));
  CHECK(!rd_hex_decode("0102030405", 10, bytes, sizeof bytes, &count));
  CHECK(rd_hex_encode((const unsigned char *)"\x01\xab\xff\x10", 4, text, 9) && strcmp(text, "01abff10") == 0);
  CHECK(!rd_hex_encode(bytes, 4, text, 8) && !rd_hex_encode(bytes, 0, text, 0));
}

static void errors(void) {
  rd_error_set(&error, RD_CODE_ABORTED, "%s\n", "two\twords");
  CHECK(error.code == RD_CODE_ABORTED && strcmp(error.message, "two?words?") == 0);
  rd_error_set(&error, RD_CODE_INTERNAL, "again: %s", error.message);
  CHECK(strcmp(error.message, "again: two?words?") == 0);
  errno = ECONNREFUSED;
  rd_error_set_errno(&error, RD_CODE_CANNOT_CONNECT, "10.0.0.2:1");
  CHECK(strcmp(error.message, "10.0.0.2:1: connection refused") == 0);
  char large[1000];
  memset(large, 'x', sizeof large - 1);
  large[sizeof large - 1] = '\0';
  rd_error_set_errno(&error, RD_CODE_INTERNAL, "%s", large);
  CHECK(strlen(error.message) == sizeof error.message - 1);
  for (unsigned code = RD_CODE_USAGE; code <= RD_CODE_INTERNAL; code++) {
    enum rd_code back = rd_code_from_status((unsigned)rd_code_status((enum rd_code)code));
    CHECK(back == (enum rd_code)code || (code == RD_CODE_PEER_STALLED && back == RD_CODE_PEER_LOST));
  }
  CHECK(rd_code_status(RD_CODE_CLOSED) == 141 && rd_code_from_status(0) == RD_CODE_ABORTED);
  CHECK(strcmp(rd_code_name(RD_CODE_DATA_DAMAGED), "data_damaged") == 0);
}

int main(void) {
  frame_layout();
  frame_lengths();
  frame_refusals();
  random_frames();
  end_and_ack();
  aborts();
  hellos();
  foreign_text();
  hexadecimal();
  errors();
  return test_end("wire");
}
