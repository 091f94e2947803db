// SPDX-License-Identifier: Apache-2.0
// One forwarded connection: its socket, the data received for it, and which directions have ended.
#ifndef RD_FORWARD_STREAM_H
#define RD_FORWARD_STREAM_H

#include "forward/allowance.h"
#include "forward/dial.h"
#include "forward/listener.h"
#include "forward/outbox.h"
#include "forward/watched.h"

enum rd_stream_state {
  RD_STREAM_RESOLVING, // the other end opened it: the target's name is looked up
  RD_STREAM_DIALLING,  // likewise, the target is dialed: fd, or -1 if the queue of a local socket is full
  RD_STREAM_OFFERED,   // this end opened it, and waits for the answer
  RD_STREAM_OPEN,
  RD_STREAM_OVER, // to be freed
};

struct rd_stream {
  enum rd_watched kind;
  uint64_t id;
  enum rd_stream_state state;
  int fd;
  uint16_t target;
  bool readable, writable;      // until a call finds that it is not
  bool hung_up;                 // the local program sends no more; the remaining data is read to the end
  bool sent_end, got_end, shut; // shut: the end of the received data was passed on to the socket
  uint32_t credit;              // bytes that may be sent
  struct rd_allowance allowance;
  struct rd_byte_queue backlog; // received bytes that the socket did not accept yet
  struct rd_dial dial;
  char peer[RD_PEER_TEXT_BYTES]; // while OFFERED, for messages
  struct rd_stream *next_of_id, *previous_ready, *next_ready;
  bool is_ready;
};

// Shared by all connections of this end.
struct rd_stream_shared {
  struct rd_outbox outbox;
  uint32_t budget; // of windows: see allowance.h
  uint64_t opened, bytes_sent, bytes_received;
};

// Returns true if the stream has data and credit to send.
bool rd_stream_can_send(const struct rd_stream *stream);
// Sends one record with data from the socket.
void rd_stream_send(struct rd_stream *stream, struct rd_stream_shared *shared);
// Handles a record of the other end: DATA, CREDIT, END or RESET. Returns false (RD_CODE_DATA_DAMAGED) if the record is
// not allowed now.
bool rd_stream_receive(struct rd_stream *stream, struct rd_stream_shared *shared, const struct rd_forward_frame *frame,
                       struct rd_error *error);
// The socket accepts bytes again.
void rd_stream_flush(struct rd_stream *stream, struct rd_stream_shared *shared);
// The socket is connected, by this end's call or by the other end's answer.
void rd_stream_begin(struct rd_stream *stream, uint32_t credit);
// Cuts the connection: the local program sees a reset, and the other end gets a record of `type` (RESET, or REFUSED
// with a reason); 0: no record.
void rd_stream_cut(struct rd_stream *stream, struct rd_stream_shared *shared, enum rd_forward_frame_type type,
                   const char *reason);

#endif
