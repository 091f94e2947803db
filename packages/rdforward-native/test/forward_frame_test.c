// SPDX-License-Identifier: Apache-2.0
// Tests of a forward's records: encoded records are decoded again, and everything else is refused.
#include "base/bytes.h"
#include "forward/frame.h"

#include "test.h"

#include <string.h>

static struct rd_error error;

static enum rd_outcome decode(const unsigned char *bytes, size_t count, struct rd_forward_frame *frame) {
  size_t used;
  return rd_forward_frame_decode(bytes, count, frame, &used, &error);
}

static void test_every_record_comes_back(void) {
  for (int type = RD_FORWARD_HELLO; type <= RD_FORWARD_BYE; type++) {
    if (type == RD_FORWARD_DATA) continue;
    unsigned char bytes[RD_FORWARD_CONTROL_MAX];
    bool has_stream = type >= RD_FORWARD_OPEN && type != RD_FORWARD_BYE;
    struct rd_forward_frame sent = {.type = (enum rd_forward_frame_type)type, .stream = has_stream ? 7 : 0};
    struct rd_forward_frame got;
    sent.index = 3, sent.port = 80, sent.number = 9, sent.text = (const unsigned char *)"text", sent.text_bytes = 4;
    size_t count = rd_forward_frame_encode(&sent, bytes), used;
    for (size_t some = 0; some < count; some++) CHECK(decode(bytes, some, &got) == RD_OUTCOME_AGAIN);
    CHECK(rd_forward_frame_decode(bytes, count, &got, &used, &error) == RD_OUTCOME_DONE && used == count);
    CHECK(got.type == sent.type && got.stream == sent.stream);
    CHECK(got.text_bytes == 0 || (got.text_bytes == 4 && memcmp(got.text, "text", 4) == 0));
    if (type == RD_FORWARD_OPEN) CHECK(got.index == 3 && got.number == 9 && got.text_bytes == 4);
    if (type == RD_FORWARD_LISTEN) CHECK(got.index == 3 && got.port == 80 && got.text_bytes == 4);
  }
}

static void test_data(void) {
  static unsigned char bytes[RD_FORWARD_HEAD_BYTES + RD_FORWARD_DATA_MAX];
  struct rd_forward_frame frame;
  rd_forward_frame_encode_data(UINT64_MAX, RD_FORWARD_DATA_MAX, bytes);
  CHECK(decode(bytes, sizeof bytes - 1, &frame) == RD_OUTCOME_AGAIN);
  CHECK(decode(bytes, sizeof bytes, &frame) == RD_OUTCOME_DONE && frame.text_bytes == RD_FORWARD_DATA_MAX);
  CHECK(frame.stream == UINT64_MAX && frame.text == bytes + RD_FORWARD_HEAD_BYTES);
}

// Refused before the payload has arrived: the decoder never waits for a wrong length.
static void test_wrong_forms(void) {
  static const struct {
    uint32_t bytes, type;
    uint64_t stream;
  } cases[] = {
      {0, 0, 0},
      {0, 16, 0},
      {0, UINT32_MAX, 0},
      {0, RD_FORWARD_HELLO, 0},
      {5, RD_FORWARD_HELLO, 0},
      {4, RD_FORWARD_HELLO, 1},
      {4, RD_FORWARD_TARGET, 0},
      {4 + 1025, RD_FORWARD_TARGET, 0},
      {3, RD_FORWARD_LISTEN, 0},
      {0, RD_FORWARD_DATA, 1},
      {RD_FORWARD_DATA_MAX + 1, RD_FORWARD_DATA, 1},
      {1, RD_FORWARD_DATA, 0},
      {1, RD_FORWARD_END, 1},
      {0, RD_FORWARD_END, 0},
      {UINT32_MAX, RD_FORWARD_CREDIT, 1},
      {0, RD_FORWARD_BYE, 1},
  };
  for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
    unsigned char head[RD_FORWARD_HEAD_BYTES];
    struct rd_forward_frame frame;
    rd_put_u32(head, cases[i].bytes);
    rd_put_u32(head + 4, cases[i].type);
    rd_put_u64(head + 8, cases[i].stream);
    CHECK(decode(head, sizeof head, &frame) == RD_OUTCOME_FAILED && error.code == RD_CODE_DATA_DAMAGED);
  }
}

static void test_text_is_cut_and_clean(void) {
  unsigned char bytes[RD_FORWARD_CONTROL_MAX], longer[RD_FORWARD_TEXT_MAX + 9];
  char text[16];
  memset(longer, '\033', sizeof longer);
  struct rd_forward_frame frame = {
      .type = RD_FORWARD_REFUSED, .stream = 1, .text = longer, .text_bytes = sizeof longer};
  CHECK(rd_forward_frame_encode(&frame, bytes) == RD_FORWARD_HEAD_BYTES + RD_FORWARD_TEXT_MAX);
  rd_forward_frame_text(&frame, text, sizeof text);
  CHECK(strcmp(text, "???????????????") == 0);
}

int main(void) {
  test_every_record_comes_back();
  test_data();
  test_wrong_forms();
  test_text_is_cut_and_clean();
  return test_end("forward_frame");
}
