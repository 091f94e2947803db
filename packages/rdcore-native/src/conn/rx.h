// SPDX-License-Identifier: Apache-2.0
// Frames on their way in: messages of the transport are opened, and come out in order, END after all DATA before it.
#ifndef RD_CONN_RX_H
#define RD_CONN_RX_H

#include "codec/decoder.h"
#include "crypto/handshake.h"
#include "wire/slots.h"

struct rd_rx {
  struct rd_transport *transport;
  const struct rd_agreement *agreement;
  struct rd_slots small; // of none, where small DATA stays in the transport's
  // DATA that must be opened or decompressed; NULL: this end receives none.
  struct rd_decoder *decoder;
  // END, which waits for the DATA before it.
  struct rd_rx_frame last;
  bool is_last_held;
  bool is_closed;
  uint64_t wire_bytes; // of DATA frames
  unsigned received;   // frames in this go
  bool has_more;       // there may be more to receive, of which the descriptor does not tell
};

// Makes the transport ready to receive what this end's HELLO granted. The agreement stays the caller's, where it is.
// Also after a failure it is to be freed, and not before.
bool rd_rx_begin(struct rd_rx *rx, struct rd_transport *transport, const struct rd_agreement *agreement, unsigned jobs,
                 struct rd_error *error);
// Waits for what is in work, and forgets the rest; what came out stays as it is until rd_rx_free().
void rd_rx_stop(struct rd_rx *rx);
void rd_rx_free(struct rd_rx *rx); // also of all zeros

// The next frame: DATA in order, END after it; other frames overtake DATA that is with the threads. AGAIN also when it
// is enough for now.
enum rd_outcome rd_rx_receive(struct rd_rx *rx, struct rd_rx_frame *rx_frame, struct rd_error *error);
void rd_rx_give_back(struct rd_rx *rx, const struct rd_rx_frame *rx_frame);
// Is DATA with the threads?
bool rd_rx_is_working(const struct rd_rx *rx);
// No DATA that comes is looked at any more.
void rd_rx_close(struct rd_rx *rx);

#endif
