// SPDX-License-Identifier: Apache-2.0
// The downstream hosts of a receiver in a chain: passes the stream on to them, and reports for them.
// See docs/protocol/wire.md, section 1.7. A receiver without a relay has no downstream hosts; the functions work for it
// as well.
#ifndef RD_DOWNSTREAM_H
#define RD_DOWNSTREAM_H

#include "codec/decoder.h"
#include "conn/credit.h"
#include "hop/control.h"
#include "hop/relay.h"

#include <poll.h>

struct rd_downstream {
  struct rd_relay *relay;     // to the sender on this host; NULL: none
  size_t enough_bytes;        // enough for an ACK that returns no credit; 0: not in a chain
  uint64_t released_seen;     // of the relay, when the loop last looked
  enum rd_behind behind_seen; // likewise
};

void rd_downstream_clear(struct rd_downstream *downstream);
// Handles RD_COMMAND_RELAY; takes ownership of its descriptors.
bool rd_downstream_join(struct rd_downstream *downstream, const struct rd_command *command, struct rd_error *error);
// Call when there is a connection that may have `lanes` lanes: creates the ring, once.
bool rd_downstream_attach(struct rd_downstream *downstream, const struct rd_settings *settings, unsigned lanes,
                          struct rd_error *error);

// Passes on received DATA. A new connection may bring bytes that the relay already has.
bool rd_downstream_pass_on(struct rd_downstream *downstream, const struct rd_rx_frame *rx_frame,
                           struct rd_error *error);
void rd_downstream_end(struct rd_downstream *downstream, const struct rd_end *end); // END has arrived
// Returns true if one more credit could bring more bytes than the ring can hold.
bool rd_downstream_is_full(const struct rd_downstream *downstream, const struct rd_credit *credit, size_t slot_bytes);

// Returns true if the downstream hosts have everything, or still take data.
bool rd_downstream_is_wanted(const struct rd_downstream *downstream);
// Returns true if every downstream host has written everything, or wants no more.
bool rd_downstream_is_settled(const struct rd_downstream *downstream);
// Returns the stream offset that this host, which has written `consumed`, and all downstream hosts have reached.
uint64_t rd_downstream_reached(const struct rd_downstream *downstream, uint64_t consumed);
// Returns true if an ACK is due even if no credit is to be returned, because the sender's ring may be full.
// `acknowledged`: by the last ACK; `received`: the most that can be acknowledged now.
bool rd_downstream_is_ack_due(const struct rd_downstream *downstream, uint64_t reached, uint64_t acknowledged,
                              uint64_t received);

// Returns true if the downstream hosts have made progress since the last call. Otherwise *poll wakes the loop when they
// do.
bool rd_downstream_has_news(struct rd_downstream *downstream, struct pollfd *poll);
void rd_downstream_woken(struct rd_downstream *downstream); // call when *poll was readable

#endif
