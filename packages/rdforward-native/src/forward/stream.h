// SPDX-License-Identifier: Apache-2.0
// One forwarded connection: its socket, what has come for it, and which direction has ended.
#ifndef RD_FORWARD_STREAM_H
#define RD_FORWARD_STREAM_H

#include "forward/allowance.h"
#include "forward/dial.h"
#include "forward/listener.h"
#include "forward/outbox.h"
#include "forward/watched.h"

enum rd_stream_state {
  RD_STREAM_RESOLVING, // the other end opened it: the target's name is looked up
  RD_STREAM_DIALLING,  // likewise: fd, or -1 where a local socket's queue is full
  RD_STREAM_OFFERED,   // this end opened it: the answer is to come
  RD_STREAM_OPEN,
  RD_STREAM_OVER, // to be freed
};

struct rd_stream {
  enum rd_watched kind;
  uint64_t id;
  enum rd_stream_state state;
  int fd;
  uint16_t target;
  bool readable, writable;      // until a call finds otherwise
  bool hung_up;                 // its program sends no more: what is there is read to its end
  bool sent_end, got_end, shut; // shut: the socket's end for what comes was passed on
  uint32_t credit;              // bytes that may be sent
  struct rd_allowance allowance;
  struct rd_byte_queue backlog; // what came and the socket did not take
  struct rd_dial dial;
  char peer[RD_PEER_TEXT_BYTES]; // of an offered one, for messages
  struct rd_stream *next_of_id, *previous_ready, *next_ready;
  bool is_ready;
};

// Shared by all connections of this end.
struct rd_stream_shared {
  struct rd_outbox outbox;
  uint32_t budget; // of windows: see allowance.h
  uint64_t opened, bytes_sent, bytes_received;
};

// It may be sent from now.
bool rd_stream_can_send(const struct rd_stream *stream);
// Sends one record of what its socket has.
void rd_stream_send(struct rd_stream *stream, struct rd_stream_shared *shared);
// A record of the other end: DATA, CREDIT, END or RESET. False (RD_CODE_DATA_DAMAGED): it may not come now.
bool rd_stream_receive(struct rd_stream *stream, struct rd_stream_shared *shared, const struct rd_forward_frame *frame,
                       struct rd_error *error);
// Its socket takes bytes again.
void rd_stream_flush(struct rd_stream *stream, struct rd_stream_shared *shared);
// Its socket is connected, by this end's call or the other's answer.
void rd_stream_begin(struct rd_stream *stream, uint32_t credit);
// Cuts the connection: its program sees a reset, and the other end gets a record of `type` (RESET, REFUSED with a
// reason), or 0 none.
void rd_stream_cut(struct rd_stream *stream, struct rd_stream_shared *shared, enum rd_forward_frame_type type,
                   const char *reason);

#endif
