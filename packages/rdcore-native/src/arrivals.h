// SPDX-License-Identifier: Apache-2.0
// Frames on their way in: messages of the transport are opened, and come out in order, END after all DATA before it.
#ifndef RD_ARRIVALS_H
#define RD_ARRIVALS_H

#include "handshake.h"
#include "inbound.h"
#include "slots.h"

struct rd_arrivals {
  struct rd_transport *transport;
  const struct rd_agreement *agreement;
  struct rd_slots small; // of none, where small DATA stays in the transport's
  // DATA that must be opened or decompressed; NULL: this end receives none.
  struct rd_inbound *inbound;
  // END, which waits for the DATA before it.
  struct rd_arrival last;
  bool is_last_held;
  bool is_closed;
  uint64_t wire_bytes; // of DATA frames
  unsigned received;   // frames in this go
  bool has_more;       // there may be more to receive, of which the descriptor does not tell
};

// Makes the transport ready to receive what this end's HELLO granted. The agreement stays the caller's, where it is.
// Also after a failure it is to be freed, and not before.
bool rd_arrivals_begin(struct rd_arrivals *arrivals, struct rd_transport *transport,
                       const struct rd_agreement *agreement, unsigned jobs, struct rd_error *error);
// Waits for what is in work, and forgets the rest; what came out stays as it is until rd_arrivals_free().
void rd_arrivals_stop(struct rd_arrivals *arrivals);
void rd_arrivals_free(struct rd_arrivals *arrivals); // also of all zeros

// DATA that the threads are done with, and what waited for it: 1 it is in *arrival, 0 there is none now, -1 failed.
int rd_arrivals_ready(struct rd_arrivals *arrivals, struct rd_arrival *arrival, struct rd_error *error);
// The next one of the transport: likewise, or 0 for enough for now. *held: it will be ready later, or was thrown away.
// Life signs are not held up by DATA.
int rd_arrivals_next(struct rd_arrivals *arrivals, struct rd_arrival *arrival, bool *held, struct rd_error *error);
void rd_arrivals_give_back(struct rd_arrivals *arrivals, const struct rd_arrival *arrival);
// Is DATA with the threads?
bool rd_arrivals_are_in_work(const struct rd_arrivals *arrivals);
// No DATA that comes is looked at any more.
void rd_arrivals_close(struct rd_arrivals *arrivals);

#endif
