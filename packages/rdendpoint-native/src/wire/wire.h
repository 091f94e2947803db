// SPDX-License-Identifier: Apache-2.0
// Frames of the wire protocol (docs/protocol/wire.md, section 1.1): the only decoder of a peer's bytes.
#ifndef RD_WIRE_WIRE_H
#define RD_WIRE_WIRE_H

#include "base/digest.h"

#define RD_HEADER_BYTES 24u
#define RD_TAG_BYTES 16u
#define RD_HANDSHAKE_MESSAGE_MAX_BYTES 16384u // a complete message before authentication
#define RD_SLOT_MAX_BYTES (1u << 20)          // largest DATA payload
#define RD_SMALL_BYTES 2048u                  // of the stream: the largest DATA that fits a small slot
#define RD_ABORT_REASON_MAX_BYTES 1024u
#define RD_CONTROL_PAYLOAD_MAX_BYTES (4u + RD_ABORT_REASON_MAX_BYTES) // of every frame except HANDSHAKE and DATA

enum rd_frame_type {
  RD_FRAME_HANDSHAKE = 1,
  RD_FRAME_DATA = 2,
  RD_FRAME_END = 3,
  RD_FRAME_ABORT = 4,
  RD_FRAME_ACK = 5,
  RD_FRAME_DONE = 6,
  RD_FRAME_CLOSED = 7,
  RD_FRAME_PING = 8,
  RD_FRAME_PONG = 9,
  RD_FRAME_BYE = 10,
  RD_FRAME_RESUME = 11,
};

#define RD_FLAG_SEALED 1u
#define RD_FLAG_COMPRESSED 2u // DATA only: its payload is a block's (block.h)
#define RD_FLAG_MACED 4u      // DATA only: an unencrypted payload, then a tag that authenticates header and payload
#define RD_BLOCK_HEAD_BYTES 4u

struct rd_frame {
  enum rd_frame_type type;
  uint8_t flags;
  uint16_t stream;
  uint32_t epoch;
  uint64_t offset;
  uint64_t sequence;
};

// The protection of DATA frames, from weakest to strongest.
enum rd_protection { RD_PROTECTION_NONE, RD_PROTECTION_MAC, RD_PROTECTION_SEAL };

// Returns the flag of DATA frames with this protection; 0 for none.
uint8_t rd_protection_flag(enum rd_protection protection);
// Returns true if the payload ends with a tag.
bool rd_frame_has_tag(const struct rd_frame *frame);

// Writes the header of `frame` to `out`, RD_HEADER_BYTES long.
void rd_frame_encode(const struct rd_frame *frame, unsigned char out[RD_HEADER_BYTES]);

// Decodes the header of a message of `bytes` bytes. Returns false (RD_CODE_DATA_DAMAGED) if it is too short, its type
// or a flag is unknown, its stream is not 0, its type cannot have this payload length, it is a sealed HANDSHAKE, it is
// neither sealed nor HANDSHAKE nor DATA, it is compressed or has a MAC but is not DATA, or it has a MAC and is sealed.
bool rd_frame_decode(const unsigned char *message, size_t bytes, struct rd_frame *frame, struct rd_error *error);

#define RD_SIGNATURE_BYTES 64u
struct rd_end {
  unsigned char digest[RD_DIGEST_BYTES];
  uint32_t producer_status;
  bool is_signed; // in a chain's stream
  unsigned char signature[RD_SIGNATURE_BYTES];
};
#define RD_END_BYTES (RD_DIGEST_BYTES + 4u)
#define RD_END_MAX_BYTES (RD_END_BYTES + RD_SIGNATURE_BYTES)
// Encodes END and returns the payload's length.
size_t rd_end_encode(const struct rd_end *end, unsigned char out[RD_END_MAX_BYTES]);
// Returns false (RD_CODE_DATA_DAMAGED) if the length is wrong.
bool rd_end_decode(const unsigned char *payload, size_t bytes, struct rd_end *end, struct rd_error *error);

#define RD_ACK_BYTES 8u
void rd_ack_encode(uint64_t frames_consumed, unsigned char out[RD_ACK_BYTES]);
// Returns false (RD_CODE_DATA_DAMAGED) if the length is wrong.
bool rd_ack_decode(const unsigned char *payload, size_t bytes, uint64_t *frames_consumed, struct rd_error *error);

struct rd_abort {
  enum rd_code code;
  char reason[RD_ABORT_REASON_MAX_BYTES + 1]; // control characters replaced by '?'
};
// Encodes ABORT and returns the payload's length.
size_t rd_abort_encode(const struct rd_abort *abort, unsigned char out[RD_CONTROL_PAYLOAD_MAX_BYTES]);
// Decodes a code and a reason. Returns false (RD_CODE_DATA_DAMAGED) if the length is wrong.
bool rd_abort_decode(const unsigned char *payload, size_t bytes, struct rd_abort *abort, struct rd_error *error);

#define RD_FEATURE_ZSTD 1u // receiver only: it accepts compressed frames
#define RD_LANES_MAX 16u   // TCP connections of one hop at the same time

struct rd_hello {
  uint16_t version;
  enum rd_protection wants;
  bool lacks_aes;        // its CPU has no instructions for AES
  bool prefers_poly1305; // to GMAC, for DATA with a MAC
  bool compresses;       // sender only: it can compress
  uint64_t features;
  unsigned lanes; // the most, 1 to RD_LANES_MAX
  uint32_t epoch;
  uint32_t slot_bytes;
  uint32_t slots;
  uint32_t small_slots;
};
#define RD_HELLO_BYTES 32u
void rd_hello_encode(const struct rd_hello *hello, unsigned char out[RD_HELLO_BYTES]);
// Decodes a HELLO of any version, which the caller must check. Returns false (RD_CODE_DATA_DAMAGED) if length or magic
// is wrong.
bool rd_hello_decode(const unsigned char *payload, size_t bytes, struct rd_hello *hello, struct rd_error *error);

#endif
