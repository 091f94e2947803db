// SPDX-License-Identifier: Apache-2.0
// The hosts behind a receiver in a chain: what it passes on to them, and what it says for them.
// docs/protocol.md, section 1.7. Without a relay there are none, and these functions do.
#ifndef RD_DOWNSTREAM_H
#define RD_DOWNSTREAM_H

#include "codec/decoder.h"
#include "conn/credit.h"
#include "hop/control.h"
#include "ring/relay.h"

#include <poll.h>

struct rd_downstream {
  struct rd_relay *relay;     // to the sender beside this receiver; NULL: none
  size_t enough_bytes;        // worth an ACK that returns no credit; 0: not in a chain
  uint64_t released_seen;     // of the relay, as it was when the loop last looked
  enum rd_behind behind_seen; // as it was then, too
};

void rd_downstream_clear(struct rd_downstream *downstream);
// RD_COMMAND_RELAY; takes over its descriptors.
bool rd_downstream_join(struct rd_downstream *downstream, const struct rd_command *command, struct rd_error *error);
// There is a connection: makes the ring, once.
bool rd_downstream_attach(struct rd_downstream *downstream, const struct rd_settings *settings, struct rd_error *error);

// DATA has come. A new connection may bring bytes that the relay has already.
bool rd_downstream_pass_on(struct rd_downstream *downstream, const struct rd_rx_frame *rx_frame,
                           struct rd_error *error);
void rd_downstream_end(struct rd_downstream *downstream, const struct rd_end *end); // END has come
// One credit more, and bytes could come for which the ring has no room.
bool rd_downstream_is_full(const struct rd_downstream *downstream, const struct rd_credit *credit, size_t slot_bytes);

// A host behind has everything, or takes what comes.
bool rd_downstream_is_wanted(const struct rd_downstream *downstream);
// Every host behind has everything written, or wants no more.
bool rd_downstream_is_settled(const struct rd_downstream *downstream);
// Up to which stream offset this host, which has written `consumed`, and all behind it have the stream.
uint64_t rd_downstream_reached(const struct rd_downstream *downstream, uint64_t consumed);
// The sender has to know, also where no credit is to be returned: its ring may be full. `acknowledged`: by the last
// ACK; `received`: as much as there can be to acknowledge now.
bool rd_downstream_is_ack_due(const struct rd_downstream *downstream, uint64_t reached, uint64_t acknowledged,
                              uint64_t received);

// True when the hosts behind have come further since the last look. Else *poll wakes the loop when they do.
bool rd_downstream_has_news(struct rd_downstream *downstream, struct pollfd *poll);
void rd_downstream_woken(struct rd_downstream *downstream); // it was readable

#endif
