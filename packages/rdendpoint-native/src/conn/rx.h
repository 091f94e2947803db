// SPDX-License-Identifier: Apache-2.0
// The receiving direction of a connection: turns the transport's messages into frames, in order.
#ifndef RD_CONN_RX_H
#define RD_CONN_RX_H

#include "codec/decoder.h"
#include "crypto/handshake.h"
#include "wire/slots.h"

struct rd_rx {
  struct rd_transport *transport;
  const struct rd_agreement *agreement;
  struct rd_slots small; // has no slots if small DATA stays in the transport's memory
  // Opens and decompresses DATA; NULL: this end receives no DATA.
  struct rd_decoder *decoder;
  // END while it waits for the DATA before it.
  struct rd_rx_frame last;
  bool is_last_held;
  bool is_closed;
  uint64_t wire_bytes; // of DATA frames
  unsigned received;   // frames since the last AGAIN
  bool has_more;       // more may be received although the descriptor is not ready
};

// Prepares the transport for the window in this end's HELLO. The agreement remains the caller's and must not move. Call
// rd_rx_free() after success and after failure.
bool rd_rx_begin(struct rd_rx *rx, struct rd_transport *transport, const struct rd_agreement *agreement, unsigned jobs,
                 struct rd_error *error);
// Waits for frames in work and drops the rest; received frames stay valid until rd_rx_free().
void rd_rx_stop(struct rd_rx *rx);
void rd_rx_free(struct rd_rx *rx); // all zeros are allowed

// Returns the next frame: DATA in order, END after it; other frames overtake DATA that the threads are working on. Also
// returns AGAIN if it was enough for now.
enum rd_outcome rd_rx_receive(struct rd_rx *rx, struct rd_rx_frame *rx_frame, struct rd_error *error);
void rd_rx_give_back(struct rd_rx *rx, const struct rd_rx_frame *rx_frame);
// Returns true if the threads are working on DATA.
bool rd_rx_is_working(const struct rd_rx *rx);
// Discards all further DATA.
void rd_rx_close(struct rd_rx *rx);

#endif
