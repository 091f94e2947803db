// SPDX-License-Identifier: Apache-2.0
#include "forward/frame.h"

#include "base/bytes.h"
#include "base/text.h"

// The fields of a record's payload, in this order; the text takes the remaining bytes.
struct shape {
  const char *name; // NULL: no such type
  bool stream, index, port, number;
  size_t text_least, text_most;
};

static const struct shape shapes[] = {
    [RD_FORWARD_HELLO] = {.name = "HELLO", .number = true},
    [RD_FORWARD_TARGET] =
        {.name = "TARGET", .index = true, .port = true, .text_least = 1, .text_most = RD_FORWARD_TEXT_MAX},
    [RD_FORWARD_LISTEN] = {.name = "LISTEN", .index = true, .port = true, .text_most = RD_FORWARD_TEXT_MAX},
    [RD_FORWARD_START] = {.name = "START"},
    [RD_FORWARD_BOUND] = {.name = "BOUND", .index = true, .port = true},
    [RD_FORWARD_FAILED] = {.name = "FAILED", .index = true, .text_most = RD_FORWARD_TEXT_MAX},
    [RD_FORWARD_READY] = {.name = "READY"},
    [RD_FORWARD_OPEN] =
        {.name = "OPEN", .stream = true, .index = true, .number = true, .text_most = RD_FORWARD_TEXT_MAX},
    [RD_FORWARD_OPENED] = {.name = "OPENED", .stream = true, .number = true},
    [RD_FORWARD_REFUSED] = {.name = "REFUSED", .stream = true, .text_most = RD_FORWARD_TEXT_MAX},
    [RD_FORWARD_DATA] = {.name = "DATA", .stream = true, .text_least = 1, .text_most = RD_FORWARD_DATA_MAX},
    [RD_FORWARD_CREDIT] = {.name = "CREDIT", .stream = true, .number = true},
    [RD_FORWARD_END] = {.name = "END", .stream = true},
    [RD_FORWARD_RESET] = {.name = "RESET", .stream = true},
    [RD_FORWARD_BYE] = {.name = "BYE"},
};

static const struct shape *shape_of(uint32_t type);
static size_t fixed_bytes(const struct shape *shape);
static void read_fields(const struct shape *shape, const unsigned char *payload, struct rd_forward_frame *frame);
static void put_head(enum rd_forward_frame_type type, uint64_t stream, size_t payload_bytes, unsigned char *head);

enum rd_outcome rd_forward_frame_decode(const unsigned char *bytes, size_t count, struct rd_forward_frame *frame,
                                        size_t *used, struct rd_error *error) {
  if (count < RD_FORWARD_HEAD_BYTES) return RD_OUTCOME_AGAIN;
  uint32_t payload = rd_get_u32(bytes), type = rd_get_u32(bytes + 4);
  uint64_t stream = rd_get_u64(bytes + 8);
  const struct shape *shape = shape_of(type);
  if (shape == NULL) {
    rd_error_set(error, RD_CODE_DATA_DAMAGED, "the other end sent a record of the unknown type %u", type);
    return RD_OUTCOME_FAILED;
  }
  size_t fixed = fixed_bytes(shape);
  if (payload < fixed + shape->text_least || payload > fixed + shape->text_most || (stream != 0) != shape->stream) {
    rd_error_set(error, RD_CODE_DATA_DAMAGED, "the other end sent a malformed %s record", shape->name);
    return RD_OUTCOME_FAILED;
  }
  if (count - RD_FORWARD_HEAD_BYTES < payload) return RD_OUTCOME_AGAIN;
  const unsigned char *fields = bytes + RD_FORWARD_HEAD_BYTES;
  *frame = (struct rd_forward_frame){.type = (enum rd_forward_frame_type)type, .stream = stream};
  read_fields(shape, fields, frame);
  frame->text = fields + fixed;
  frame->text_bytes = payload - fixed;
  *used = RD_FORWARD_HEAD_BYTES + payload;
  return RD_OUTCOME_DONE;
}

size_t rd_forward_frame_encode(const struct rd_forward_frame *frame, unsigned char *bytes) {
  const struct shape *shape = &shapes[frame->type];
  unsigned char *at = bytes + RD_FORWARD_HEAD_BYTES;
  if (shape->index) rd_put_u16(at, frame->index);
  at += shape->index ? 2 : 0;
  if (shape->port) rd_put_u16(at, frame->port);
  at += shape->port ? 2 : 0;
  if (shape->number) rd_put_u32(at, frame->number);
  at += shape->number ? 4 : 0;
  size_t text = frame->text_bytes < shape->text_most ? frame->text_bytes : shape->text_most;
  if (text > 0) memcpy(at, frame->text, text);
  at += text;
  put_head(frame->type, frame->stream, (size_t)(at - bytes) - RD_FORWARD_HEAD_BYTES, bytes);
  return (size_t)(at - bytes);
}

void rd_forward_frame_encode_data(uint64_t stream, size_t count, unsigned char head[RD_FORWARD_HEAD_BYTES]) {
  put_head(RD_FORWARD_DATA, stream, count, head);
}

void rd_forward_frame_text(const struct rd_forward_frame *frame, char *text, size_t text_bytes) {
  size_t count = frame->text_bytes < text_bytes ? frame->text_bytes : text_bytes - 1;
  if (count > 0) memcpy(text, frame->text, count);
  text[count] = '\0';
  rd_text_clean(text, count);
}

static const struct shape *shape_of(uint32_t type) {
  if (type >= sizeof shapes / sizeof *shapes) return NULL;
  return shapes[type].name == NULL ? NULL : &shapes[type];
}

static size_t fixed_bytes(const struct shape *shape) {
  return (shape->index ? 2u : 0u) + (shape->port ? 2u : 0u) + (shape->number ? 4u : 0u);
}

static void read_fields(const struct shape *shape, const unsigned char *payload, struct rd_forward_frame *frame) {
  if (shape->index) frame->index = rd_get_u16(payload);
  payload += shape->index ? 2 : 0;
  if (shape->port) frame->port = rd_get_u16(payload);
  payload += shape->port ? 2 : 0;
  if (shape->number) frame->number = rd_get_u32(payload);
}

static void put_head(enum rd_forward_frame_type type, uint64_t stream, size_t payload_bytes, unsigned char *head) {
  rd_put_u32(head, (uint32_t)payload_bytes);
  rd_put_u32(head + 4, (uint32_t)type);
  rd_put_u64(head + 8, stream);
}
