// SPDX-License-Identifier: Apache-2.0
// The establisher: creates one authenticated connection by listening, dialing or adopting.
// Listeners, attempts and adopted connections may run at the same time. The sender chooses the first connection that
// authenticates, the receiver accepts the sender's choice, and both close all others. The chosen method stays available
// for reconnecting (docs/protocol/wire.md, section 1.6): a listener keeps listening, a dialer can redial. Nothing here
// blocks.
#ifndef RD_CONN_ESTABLISHER_H
#define RD_CONN_ESTABLISHER_H

#include "conn/connection.h"
#include "conn/dialer.h"
#include "conn/listener.h"
#include "conn/offer.h"
#include "conn/pending_list.h"
#include "conn/rails.h"

#define RD_ESTABLISHER_POLLS_MAX (2u + RD_DIALER_MAX + RD_PENDING_MAX)

struct rd_establisher_config {
  struct rd_identity identity;
  enum rd_role role;
  enum rd_encrypt encrypt;
  size_t buffer_bytes;      // of each lane; a receiver grants as much in its HELLO, if the transport has the memory
  unsigned lanes;           // the most lanes of a connection; 0: as the path needs
  int64_t stall_timeout_ms; // of the connection, like the next two
  int compress_level;
  bool chain;      // the hop is part of a chain
  bool congestion; // of the connection
  unsigned jobs;
  int64_t handshake_ms;           // time limit for a connection that a listener accepted; 0: 5 s
  struct rd_dialer_config dialer; // its timeout also ends an adopted connection
  // Reports a rejected peer of a listener, once per code; may be NULL.
  void (*rejected)(void *context, const char *peer, const struct rd_error *why);
  // Called with the device of the chosen connection, before memory for its data is allocated; may be NULL.
  void (*bind_numa)(void *context, const char *device);
  // Gets a further lane of the last connection that was taken, and owns it. Returns false if it was dropped.
  bool (*joined)(void *context, struct rd_transport *lane);
  void *context;
};

struct rd_establisher; // opaque

// The config's strings and key must outlive the establisher. Never NULL.
struct rd_establisher *rd_establisher_create(const struct rd_establisher_config *config);
void rd_establisher_destroy(struct rd_establisher *establisher); // closes everything; accepts NULL

// Listens. There is one listener per transport, which a second call replaces. Returns false if it cannot listen there;
// everything else continues.
bool rd_establisher_listen(struct rd_establisher *establisher, const struct rd_listen_config *listen, uint16_t *port,
                           struct rd_error *error);
// These are addresses of one listener, at most RD_RAILS_MAX over each transport: if one of those is dialed and
// connects, the further lanes are spread over all of them, and each of them may serve to reconnect.
void rd_establisher_use_rails(struct rd_establisher *establisher, const struct rd_address *addresses, size_t count);
// See rd_dialer_add().
bool rd_establisher_dial(struct rd_establisher *establisher, const struct rd_address *addresses, size_t count,
                         struct rd_error *error);
// Takes ownership of a connected transport, even on failure; `is_dialer`: this end is the TLS client.
bool rd_establisher_adopt(struct rd_establisher *establisher, struct rd_transport *transport, bool is_dialer,
                          struct rd_error *error);

// Makes progress without waiting. DONE: call rd_establisher_take(). FAILED: the last attempt failed
// (RD_CODE_CANNOT_CONNECT, RD_CODE_KEY_REFUSED …); a listener keeps listening, and dialing again is possible.
enum rd_outcome rd_establisher_service(struct rd_establisher *establisher, struct rd_error *error);
// Returns the new connection; call only after an earlier one has released the device. AGAIN: it failed, and connecting
// continues. FAILED: there is no memory for any connection.
enum rd_outcome rd_establisher_take(struct rd_establisher *establisher, struct rd_connection **connection,
                                    struct rd_error *error);

// If the connection in use was dialed, dials further lanes, so that it has `lanes`, at most those that were agreed on.
// A lane that cannot be made is left out.
void rd_establisher_dial_lanes(struct rd_establisher *establisher, unsigned lanes);

// The connection is broken or silent: if it was dialed, redials until it is refused; a listener still listens. Returns
// false if another connection is impossible.
bool rd_establisher_reconnect(struct rd_establisher *establisher);
// The connection is alive after all: cancels rd_establisher_reconnect().
void rd_establisher_cancel(struct rd_establisher *establisher);

// Fills in the descriptors to poll, at most RD_ESTABLISHER_POLLS_MAX, and returns their number.
size_t rd_establisher_polls(const struct rd_establisher *establisher, struct pollfd *polls);
int rd_establisher_timeout_ms(const struct rd_establisher *establisher); // -1: none

#endif
