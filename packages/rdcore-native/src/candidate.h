// SPDX-License-Identifier: Apache-2.0
// A connection that is not the hop's yet: a transport in its handshake and, at the receiver, one whose sender has not
// chosen it yet (docs/protocol.md, section 1.2).
#ifndef RD_CANDIDATE_H
#define RD_CANDIDATE_H

#include "handshake.h"
#include "transport.h"

#include <poll.h>

struct rd_candidate; // opaque

// Begins the handshake. Takes over the transport, also when it fails. `until_ms` is on the clock of rd_now_ms().
struct rd_candidate *rd_candidate_create(struct rd_transport *transport, const struct rd_identity *identity,
                                         enum rd_role role, bool dialler, const struct rd_hello *mine, int64_t until_ms,
                                         struct rd_error *error);
void rd_candidate_destroy(struct rd_candidate *candidate); // NULL-safe

// See rd_handshake_adapt_slots().
void rd_candidate_adapt_slots(struct rd_candidate *candidate);

// Goes on as far as it can without waiting: 1 authenticated (at the receiver: and chosen, by a PING that is still to be
// answered), 0 not yet, -1 failed (the other side was told why).
int rd_candidate_service(struct rd_candidate *candidate, struct rd_error *error);
// The peer holds the key.
bool rd_candidate_authenticated(const struct rd_candidate *candidate);
// See rd_handshake_named_key().
bool rd_candidate_named_key(const struct rd_candidate *candidate);
// After 1: hands over the transport and what was agreed; the candidate can then only be destroyed.
void rd_candidate_take(struct rd_candidate *candidate, struct rd_transport **transport, struct rd_agreement *agreement);

int64_t rd_candidate_until_ms(const struct rd_candidate *candidate);
struct pollfd rd_candidate_poll(const struct rd_candidate *candidate);
const char *rd_candidate_peer(const struct rd_candidate *candidate);

#endif
