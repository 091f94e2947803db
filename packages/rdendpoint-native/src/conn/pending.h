// SPDX-License-Identifier: Apache-2.0
// A pending connection: in its handshake or, at the receiver, not yet chosen by the sender.
// See docs/protocol/wire.md, section 1.2.
#ifndef RD_CONN_PENDING_H
#define RD_CONN_PENDING_H

#include "crypto/handshake.h"
#include "transport/transport.h"

#include <poll.h>

struct rd_pending; // opaque

// Begins the handshake. Takes ownership of the transport, even on failure. `until_ms` is on the clock of rd_now_ms().
// NULL on failure.
struct rd_pending *rd_pending_create(struct rd_transport *transport, const struct rd_identity *identity,
                                     enum rd_role role, bool is_dialer, const struct rd_hello *mine, int64_t until_ms,
                                     struct rd_error *error);
void rd_pending_destroy(struct rd_pending *pending); // accepts NULL

// See rd_handshake_adapt_slots().
void rd_pending_adapt_slots(struct rd_pending *pending);

// Makes progress without waiting. DONE: authenticated and, at the receiver, chosen by a PING, which is not answered
// yet. FAILED: the peer was sent an alert with the reason.
enum rd_outcome rd_pending_service(struct rd_pending *pending, struct rd_error *error);
// Returns true if the peer proved the key.
bool rd_pending_authenticated(const struct rd_pending *pending);
// Returns true if it is a further lane of a connection, which no PING chooses.
bool rd_pending_is_lane(const struct rd_pending *pending);
// See rd_handshake_named_key().
bool rd_pending_named_key(const struct rd_pending *pending);
// After DONE: hands over transport and agreement; the pending connection can then only be destroyed.
void rd_pending_take(struct rd_pending *pending, struct rd_transport **transport, struct rd_agreement *agreement);

// The time limit, the descriptor and events to poll for, and the peer's name, owned by the transport.
int64_t rd_pending_until_ms(const struct rd_pending *pending);
struct pollfd rd_pending_poll(const struct rd_pending *pending);
const char *rd_pending_peer(const struct rd_pending *pending);

#endif
