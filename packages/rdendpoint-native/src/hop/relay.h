// SPDX-License-Identifier: Apache-2.0
// The ring that the receiver and the sender of one host in a chain share, and the progress of each.
// They are two processes (docs/adr/0023). The receiver makes the ring, fills it, and passes END on; the sender reads
// from it, and reports the progress of the hosts after it.
#ifndef RD_RELAY_H
#define RD_RELAY_H

#include "crypto/handshake.h"
#include "ring/shared_ring.h"

struct rd_relay; // opaque: one side of it

// The state of the hosts after this one in the chain.
enum rd_behind {
  RD_BEHIND_OPEN,   // some hosts do not have the complete stream yet
  RD_BEHIND_DONE,   // all of them have written everything
  RD_BEHIND_CLOSED, // no consumer there wants more
  RD_BEHIND_NONE,   // this host is the last one
};

// Takes ownership of the descriptors, even on failure. NULL on failure.
struct rd_relay *rd_relay_open(enum rd_role role, struct rd_ring_fds fds, struct rd_error *error);
// Frees this side; the other side keeps its mapping. Accepts NULL.
void rd_relay_destroy(struct rd_relay *relay);

// Returns the shared ring, which the receiver makes; owned by the relay.
struct rd_shared_ring *rd_relay_shared(const struct rd_relay *relay);
// Returns NULL if the receiver has not made the ring yet or, with *error set, if the ring cannot be used.
struct rd_ring *rd_relay_ring(struct rd_relay *relay, struct rd_error *error);

// Receiver: END was received, after all bytes. Sender: returns true if it was, and fills in *end.
void rd_relay_end(struct rd_relay *relay, const struct rd_end *end);
bool rd_relay_has_ended(const struct rd_relay *relay, struct rd_end *end);
// Sender: reports the state of the hosts after it. Receiver: returns the last reported state.
void rd_relay_set_behind(struct rd_relay *relay, enum rd_behind behind);
enum rd_behind rd_relay_behind(const struct rd_relay *relay);

#endif
