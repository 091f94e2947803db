// SPDX-License-Identifier: Apache-2.0
// The ring that receiver and sender of one host in a chain share, and how far each has come.
// They are two processes (docs/adr/0023). The receiver makes the memory, fills the ring, and passes END on; the sender
// takes from it, and says how far the hosts behind it have come. Either is woken by the other's bell, a socket.
#ifndef RD_RING_RELAY_H
#define RD_RING_RELAY_H

#include "crypto/handshake.h"
#include "ring/ring.h"

struct rd_relay; // opaque: one side of it

// The state of the hosts behind the sender.
enum rd_behind {
  RD_BEHIND_OPEN,   // hosts that the stream has not wholly reached
  RD_BEHIND_DONE,   // all of them have everything written
  RD_BEHIND_CLOSED, // no consumer there wants more
  RD_BEHIND_NONE,   // there are none: this host is the last one
};

// Takes over the descriptors, also on failure: that of rd_relay_memory_create(), and the bell, an end of a stream
// socket pair. NULL on failure.
struct rd_relay *rd_relay_open(enum rd_role role, int memory_fd, int bell_fd, struct rd_error *error);
// The other side keeps what it has mapped. NULL-safe.
void rd_relay_destroy(struct rd_relay *relay);

// Receiver: makes the ring, once.
bool rd_relay_make(struct rd_relay *relay, size_t capacity_bytes, struct rd_error *error);
// NULL: the receiver has not made it yet, or *error is set because it cannot be used.
struct rd_ring *rd_relay_ring(struct rd_relay *relay, struct rd_error *error);

// Receiver: END has come, after all the bytes. Sender: whether it has.
void rd_relay_end(struct rd_relay *relay, const struct rd_end *end);
bool rd_relay_has_ended(const struct rd_relay *relay, struct rd_end *end);
// Sender: says what is behind it. Receiver: what the sender said last.
void rd_relay_set_behind(struct rd_relay *relay, enum rd_behind behind);
enum rd_behind rd_relay_behind(const struct rd_relay *relay);

// After progress of this side: wakes the other one if it waits.
void rd_relay_tell(struct rd_relay *relay);
// To be woken by progress of the other side from now on: look once more at what it did before waiting.
void rd_relay_expect_news(struct rd_relay *relay);
// Readable after news; -1: the other side is gone.
int rd_relay_poll_fd(const struct rd_relay *relay);
void rd_relay_woken(struct rd_relay *relay); // it was readable

#endif
