// SPDX-License-Identifier: Apache-2.0
#include "wire/wire.h"

#include "base/bytes.h"
#include "base/text.h"

#include <string.h>

static unsigned lanes_of(uint64_t features);
static unsigned hello_flags(const struct rd_hello *hello);
static enum rd_protection wanted_by(unsigned flags);
static bool type_is_known(uint8_t type);
static bool flags_are_right(const struct rd_frame *frame);
static bool seal_is_right(const struct rd_frame *frame);
static bool payload_is_right(const struct rd_frame *frame, size_t bytes);
static void payload_range(const struct rd_frame *frame, size_t *least, size_t *most);

static const unsigned char hello_magic[4] = {'R', 'D', 'P', 'H'};
enum {
  HELLO_WANTS_SEALED = 1,
  HELLO_LACKS_AES = 2,
  HELLO_COMPRESSES = 4,
  HELLO_WANTS_MACED = 8,
  HELLO_PREFERS_POLY1305 = 16,
};

// Among the features.
#define HELLO_LANES_SHIFT 16
#define HELLO_LANES_MASK (UINT64_C(0xff) << HELLO_LANES_SHIFT)

uint8_t rd_protection_flag(enum rd_protection protection) {
  static const uint8_t flags[] = {0, RD_FLAG_MACED, RD_FLAG_SEALED};
  return flags[protection];
}

bool rd_frame_has_tag(const struct rd_frame *frame) {
  return (frame->flags & (RD_FLAG_SEALED | RD_FLAG_MACED)) != 0;
}

void rd_frame_encode(const struct rd_frame *frame, unsigned char out[RD_HEADER_BYTES]) {
  out[0] = (unsigned char)frame->type;
  out[1] = frame->flags;
  rd_put_u16(out + 2, frame->stream);
  rd_put_u32(out + 4, frame->epoch);
  rd_put_u64(out + 8, frame->offset);
  rd_put_u64(out + 16, frame->sequence);
}

bool rd_frame_decode(const unsigned char *message, size_t bytes, struct rd_frame *frame, struct rd_error *error) {
  if (bytes < RD_HEADER_BYTES || !type_is_known(message[0])) {
    rd_error_set(error, RD_CODE_DATA_DAMAGED, "the peer sent a message that is not a frame");
    return false;
  }
  *frame = (struct rd_frame){
      .type = (enum rd_frame_type)message[0],
      .flags = message[1],
      .stream = rd_get_u16(message + 2),
      .epoch = rd_get_u32(message + 4),
      .offset = rd_get_u64(message + 8),
      .sequence = rd_get_u64(message + 16),
  };
  bool right = flags_are_right(frame) && frame->stream == 0 && seal_is_right(frame);
  if (right && payload_is_right(frame, bytes - RD_HEADER_BYTES)) return true;
  rd_error_set(error, RD_CODE_DATA_DAMAGED, "the peer sent a malformed frame of type %d", (int)frame->type);
  return false;
}

size_t rd_end_encode(const struct rd_end *end, unsigned char out[RD_END_MAX_BYTES]) {
  memcpy(out, end->digest, RD_DIGEST_BYTES);
  rd_put_u32(out + RD_DIGEST_BYTES, end->producer_status);
  if (!end->is_signed) return RD_END_BYTES;
  memcpy(out + RD_END_BYTES, end->signature, RD_SIGNATURE_BYTES);
  return RD_END_MAX_BYTES;
}

bool rd_end_decode(const unsigned char *payload, size_t bytes, struct rd_end *end, struct rd_error *error) {
  if (bytes != RD_END_BYTES && bytes != RD_END_MAX_BYTES) {
    rd_error_set(error, RD_CODE_DATA_DAMAGED, "the peer sent a malformed END");
    return false;
  }
  *end = (struct rd_end){.is_signed = bytes == RD_END_MAX_BYTES};
  memcpy(end->digest, payload, RD_DIGEST_BYTES);
  end->producer_status = rd_get_u32(payload + RD_DIGEST_BYTES);
  if (end->is_signed) memcpy(end->signature, payload + RD_END_BYTES, RD_SIGNATURE_BYTES);
  return true;
}

void rd_ack_encode(uint64_t frames_consumed, unsigned char out[RD_ACK_BYTES]) {
  rd_put_u64(out, frames_consumed);
}

bool rd_ack_decode(const unsigned char *payload, size_t bytes, uint64_t *frames_consumed, struct rd_error *error) {
  if (bytes != RD_ACK_BYTES) {
    rd_error_set(error, RD_CODE_DATA_DAMAGED, "the peer sent a malformed ACK");
    return false;
  }
  *frames_consumed = rd_get_u64(payload);
  return true;
}

size_t rd_abort_encode(const struct rd_abort *abort, unsigned char out[RD_CONTROL_PAYLOAD_MAX_BYTES]) {
  size_t reason_bytes = strnlen(abort->reason, RD_ABORT_REASON_MAX_BYTES);
  rd_put_u32(out, (uint32_t)rd_code_status(abort->code));
  memcpy(out + 4, abort->reason, reason_bytes);
  return 4 + reason_bytes;
}

bool rd_abort_decode(const unsigned char *payload, size_t bytes, struct rd_abort *abort, struct rd_error *error) {
  if (bytes < 4 || bytes > RD_CONTROL_PAYLOAD_MAX_BYTES) {
    rd_error_set(error, RD_CODE_DATA_DAMAGED, "the peer sent a malformed ABORT");
    return false;
  }
  size_t reason_bytes = bytes - 4;
  abort->code = rd_code_from_status(rd_get_u32(payload));
  memcpy(abort->reason, payload + 4, reason_bytes);
  abort->reason[reason_bytes] = '\0';
  rd_text_clean(abort->reason, reason_bytes);
  return true;
}

void rd_hello_encode(const struct rd_hello *hello, unsigned char out[RD_HELLO_BYTES]) {
  memcpy(out, hello_magic, sizeof hello_magic);
  rd_put_u16(out + 4, hello->version);
  rd_put_u16(out + 6, (uint16_t)hello_flags(hello));
  uint64_t lanes = hello->lanes > 1 ? (uint64_t)hello->lanes << HELLO_LANES_SHIFT : 0;
  rd_put_u64(out + 8, hello->features | lanes);
  rd_put_u32(out + 16, hello->epoch);
  rd_put_u32(out + 20, hello->slot_bytes);
  rd_put_u32(out + 24, hello->slots);
  rd_put_u32(out + 28, hello->small_slots);
}

bool rd_hello_decode(const unsigned char *payload, size_t bytes, struct rd_hello *hello, struct rd_error *error) {
  if (bytes != RD_HELLO_BYTES || memcmp(payload, hello_magic, sizeof hello_magic) != 0) {
    rd_error_set(error, RD_CODE_DATA_DAMAGED, "the peer sent a malformed HELLO");
    return false;
  }
  unsigned flags = rd_get_u16(payload + 6);
  uint64_t features = rd_get_u64(payload + 8);
  *hello = (struct rd_hello){
      .version = rd_get_u16(payload + 4),
      .wants = wanted_by(flags),
      .lacks_aes = (flags & HELLO_LACKS_AES) != 0,
      .prefers_poly1305 = (flags & HELLO_PREFERS_POLY1305) != 0,
      .compresses = (flags & HELLO_COMPRESSES) != 0,
      .features = features & ~HELLO_LANES_MASK,
      .lanes = lanes_of(features),
      .epoch = rd_get_u32(payload + 16),
      .slot_bytes = rd_get_u32(payload + 20),
      .slots = rd_get_u32(payload + 24),
      .small_slots = rd_get_u32(payload + 28),
  };
  return true;
}

// An end that knows only one lane sends 0.
static unsigned lanes_of(uint64_t features) {
  unsigned lanes = (unsigned)((features & HELLO_LANES_MASK) >> HELLO_LANES_SHIFT);
  if (lanes == 0) return 1;
  return lanes < RD_LANES_MAX ? lanes : RD_LANES_MAX;
}

static unsigned hello_flags(const struct rd_hello *hello) {
  return (hello->wants == RD_PROTECTION_SEAL ? HELLO_WANTS_SEALED : 0u) |
         (hello->wants == RD_PROTECTION_MAC ? HELLO_WANTS_MACED : 0u) | (hello->lacks_aes ? HELLO_LACKS_AES : 0u) |
         (hello->prefers_poly1305 ? HELLO_PREFERS_POLY1305 : 0u) | (hello->compresses ? HELLO_COMPRESSES : 0u);
}

static enum rd_protection wanted_by(unsigned flags) {
  if ((flags & HELLO_WANTS_SEALED) != 0) return RD_PROTECTION_SEAL;
  return (flags & HELLO_WANTS_MACED) != 0 ? RD_PROTECTION_MAC : RD_PROTECTION_NONE;
}

static bool type_is_known(uint8_t type) {
  return type >= RD_FRAME_HANDSHAKE && type <= RD_FRAME_RESUME;
}

static bool flags_are_right(const struct rd_frame *frame) {
  unsigned known = RD_FLAG_SEALED | (frame->type == RD_FRAME_DATA ? RD_FLAG_COMPRESSED | RD_FLAG_MACED : 0u);
  unsigned both = RD_FLAG_SEALED | RD_FLAG_MACED;
  return (frame->flags & ~known) == 0 && (frame->flags & both) != both;
}

// The handshake comes before the keys, so it is plain; DATA has the agreed protection; everything else is always
// sealed.
static bool seal_is_right(const struct rd_frame *frame) {
  bool sealed = (frame->flags & RD_FLAG_SEALED) != 0;
  if (!rd_frame_has_tag(frame) && frame->sequence != 0) return false;
  if (frame->type == RD_FRAME_HANDSHAKE) return !sealed && frame->epoch == 0 && frame->offset == 0;
  return sealed || frame->type == RD_FRAME_DATA;
}

static bool payload_is_right(const struct rd_frame *frame, size_t bytes) {
  size_t least, most, tag = rd_frame_has_tag(frame) ? RD_TAG_BYTES : 0;
  payload_range(frame, &least, &most);
  return bytes >= least + tag && bytes <= most + tag;
}

static void payload_range(const struct rd_frame *frame, size_t *least, size_t *most) {
  enum rd_frame_type type = frame->type;
  *least = *most = 0;
  if (type == RD_FRAME_HANDSHAKE) *least = 1, *most = RD_HANDSHAKE_MESSAGE_MAX_BYTES - RD_HEADER_BYTES;
  if (type == RD_FRAME_DATA) *least = 1, *most = RD_SLOT_MAX_BYTES;
  if ((frame->flags & RD_FLAG_COMPRESSED) != 0) *least = RD_BLOCK_HEAD_BYTES + 1;
  if (type == RD_FRAME_END) *least = RD_END_BYTES, *most = RD_END_MAX_BYTES;
  if (type == RD_FRAME_ABORT) *least = 4, *most = RD_CONTROL_PAYLOAD_MAX_BYTES;
  if (type == RD_FRAME_ACK) *least = *most = RD_ACK_BYTES;
}
