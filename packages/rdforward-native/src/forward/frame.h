// SPDX-License-Identifier: Apache-2.0
// The only encoder and decoder of a forward stream's records (docs/protocol/forwards.md, section 7).
#ifndef RD_FORWARD_FRAME_H
#define RD_FORWARD_FRAME_H

#include "base/error.h"
#include "base/outcome.h"

#include <stddef.h>
#include <stdint.h>

#define RD_FORWARD_VERSION 1u
#define RD_FORWARD_HEAD_BYTES 16u
#define RD_FORWARD_TEXT_MAX 1024u
#define RD_FORWARD_DATA_MAX (64u << 10)
// Maximum of any record but DATA.
#define RD_FORWARD_CONTROL_MAX (RD_FORWARD_HEAD_BYTES + 8u + RD_FORWARD_TEXT_MAX)

enum rd_forward_frame_type {
  RD_FORWARD_HELLO = 1, // number: the version
  RD_FORWARD_TARGET,    // index, port, text: an address that the far end may dial
  RD_FORWARD_LISTEN,    // index, port, text: an address for the far end to listen on
  RD_FORWARD_START,     // end of the table
  RD_FORWARD_BOUND,     // index, port: the far end listens
  RD_FORWARD_FAILED,    // index, text: the far end cannot listen, and the reason
  RD_FORWARD_READY,     // the far end uses the table
  RD_FORWARD_OPEN,      // index, number: bytes that may be sent back, text: the address of the connection
  RD_FORWARD_OPENED,    // number: bytes that may be sent back
  RD_FORWARD_REFUSED,   // text: the reason
  RD_FORWARD_DATA,      // text: bytes of the connection, at least one
  RD_FORWARD_CREDIT,    // number: more bytes that may be sent, at least one
  RD_FORWARD_END,       // the end of the connection in this direction
  RD_FORWARD_RESET,     // the connection was cut
  RD_FORWARD_BYE,       // the end of the run
};

struct rd_forward_frame {
  enum rd_forward_frame_type type;
  uint64_t stream; // from 1; 0: the record does not belong to a connection
  uint16_t index, port;
  uint32_t number;
  const unsigned char *text; // not NUL-terminated; in DATA the bytes
  size_t text_bytes;
};

// Decodes the record at the beginning of `count` bytes; frame->text points into them. *used: the length of the record.
// AGAIN: the record is incomplete; FAILED (RD_CODE_DATA_DAMAGED): these bytes are not a record.
enum rd_outcome rd_forward_frame_decode(const unsigned char *bytes, size_t count, struct rd_forward_frame *frame,
                                        size_t *used, struct rd_error *error);

// Encodes any record but DATA into a buffer of RD_FORWARD_CONTROL_MAX bytes; a longer text is truncated. Returns the
// number of bytes.
size_t rd_forward_frame_encode(const struct rd_forward_frame *frame, unsigned char *bytes);

// Encodes the head of a DATA record with `count` bytes, which follow it.
void rd_forward_frame_encode_data(uint64_t stream, size_t count, unsigned char head[RD_FORWARD_HEAD_BYTES]);

// Stores the text of a frame, safe to print, in `text_bytes` bytes including its NUL.
void rd_forward_frame_text(const struct rd_forward_frame *frame, char *text, size_t text_bytes);

#endif
