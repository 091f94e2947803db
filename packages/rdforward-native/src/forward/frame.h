// SPDX-License-Identifier: Apache-2.0
// Records of a forward stream (docs/protocol.md, section 7): their one encoder and decoder.
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
// Of any record but DATA.
#define RD_FORWARD_CONTROL_MAX (RD_FORWARD_HEAD_BYTES + 8u + RD_FORWARD_TEXT_MAX)

enum rd_forward_frame_type {
  RD_FORWARD_HELLO = 1, // number: the version
  RD_FORWARD_TARGET,    // index, port, text: one that the far end may dial
  RD_FORWARD_LISTEN,    // index, port, text: an address on which the far end is to listen
  RD_FORWARD_START,     // the end of that table
  RD_FORWARD_BOUND,     // index, port: the far end listens
  RD_FORWARD_FAILED,    // index, text: it cannot, and why
  RD_FORWARD_READY,     // the far end's table is in use
  RD_FORWARD_OPEN,      // index, number: bytes that may be sent back, text: the address of the connection
  RD_FORWARD_OPENED,    // number: likewise
  RD_FORWARD_REFUSED,   // text: the reason
  RD_FORWARD_DATA,      // text: bytes of the connection, at least one
  RD_FORWARD_CREDIT,    // number: more bytes that may be sent, at least one
  RD_FORWARD_END,       // the end of the connection in this direction
  RD_FORWARD_RESET,     // the connection was cut
  RD_FORWARD_BYE,       // the end of the run
};

struct rd_forward_frame {
  enum rd_forward_frame_type type;
  uint64_t stream; // from 1; 0: the record is about no connection
  uint16_t index, port;
  uint32_t number;
  const unsigned char *text; // not ended by a NUL; of DATA the bytes
  size_t text_bytes;
};

// Decodes the record at the beginning of `count` bytes, of which frame->text is a part. `*used`: its bytes. AGAIN: it
// is not whole yet; FAILED (RD_CODE_DATA_DAMAGED): these bytes are no record.
enum rd_outcome rd_forward_frame_decode(const unsigned char *bytes, size_t count, struct rd_forward_frame *frame,
                                        size_t *used, struct rd_error *error);

// Into room for RD_FORWARD_CONTROL_MAX bytes; a longer text is cut. Returns the bytes. Not for DATA.
size_t rd_forward_frame_encode(const struct rd_forward_frame *frame, unsigned char *bytes);

// The head of a DATA record with `count` bytes, which come behind it.
void rd_forward_frame_encode_data(uint64_t stream, size_t count, unsigned char head[RD_FORWARD_HEAD_BYTES]);

// The text of a frame, safe to be shown, in `text_bytes` bytes of room with its NUL.
void rd_forward_frame_text(const struct rd_forward_frame *frame, char *text, size_t text_bytes);

#endif
