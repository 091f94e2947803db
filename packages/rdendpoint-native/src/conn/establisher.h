// SPDX-License-Identifier: Apache-2.0
// The establisher: from listening, dialing or adopting to one authenticated connection.
// Listeners, attempts and adopted connections may go on at once. The sender chooses the first connection that
// authenticates, the receiver takes the chosen one, and the others are closed. The way it came stays open for
// reconnecting (docs/protocol.md, section 1.6): a listener goes on listening, a dialer can redial. Nothing here blocks.
#ifndef RD_CONN_ESTABLISHER_H
#define RD_CONN_ESTABLISHER_H

#include "conn/connection.h"
#include "conn/dialer.h"
#include "conn/listener.h"
#include "conn/offer.h"
#include "conn/pending_list.h"

#define RD_ESTABLISHER_POLLS_MAX (2u + RD_DIALER_MAX + RD_PENDING_MAX)

struct rd_establisher_config {
  struct rd_identity identity;
  enum rd_role role;
  enum rd_encrypt encrypt;
  size_t buffer_bytes;      // receiver: to grant by its HELLO, where the transport has the memory; sender: 0
  int64_t stall_timeout_ms; // of the connection, as the next two
  int compress_level;
  bool chain; // the hop is one of a chain
  unsigned jobs;
  int64_t handshake_ms;           // of a connection that a listener accepted; 0: 5 s
  struct rd_dialer_config dialer; // its timeout also ends an adopted connection
  // Reports a rejected peer of a listener, once for each code; or NULL.
  void (*rejected)(void *context, const char *peer, const struct rd_error *why);
  // Called with the device of the chosen connection, before memory for its data is allocated; or NULL.
  void (*bind_numa)(void *context, const char *device);
  void *context;
};

struct rd_establisher; // opaque

// The config's strings and key must outlive it; rd_establisher_destroy() closes everything.
struct rd_establisher *rd_establisher_create(const struct rd_establisher_config *config);
void rd_establisher_destroy(struct rd_establisher *establisher); // NULL-safe

// Listens; each transport has one listener, which a second one replaces. False: it cannot listen there; all else goes
// on.
bool rd_establisher_listen(struct rd_establisher *establisher, const struct rd_listen_config *listen, uint16_t *port,
                           struct rd_error *error);
// See rd_dialer_add().
bool rd_establisher_dial(struct rd_establisher *establisher, const struct rd_address *addresses, size_t count,
                         struct rd_error *error);
// Takes over a connected transport, also on failure; `is_dialer`: this end is the TLS client.
bool rd_establisher_adopt(struct rd_establisher *establisher, struct rd_transport *transport, bool is_dialer,
                          struct rd_error *error);

// Goes on as far as it can. DONE: call rd_establisher_take(). FAILED: the last attempt failed
// (RD_CODE_CANNOT_CONNECT, RD_CODE_KEY_REFUSED …); a listener goes on, and dialing again is possible.
enum rd_outcome rd_establisher_service(struct rd_establisher *establisher, struct rd_error *error);
// The new connection; an earlier one must have released the device. AGAIN: it failed, and connecting goes on. FAILED:
// there is no memory for any connection.
enum rd_outcome rd_establisher_take(struct rd_establisher *establisher, struct rd_connection **connection,
                                    struct rd_error *error);

// The connection is broken or silent: if it was dialed, redials until it is refused; a listener still listens. False:
// another connection is impossible.
bool rd_establisher_reconnect(struct rd_establisher *establisher);
// The connection is alive after all: cancels rd_establisher_reconnect().
void rd_establisher_cancel(struct rd_establisher *establisher);

// Fills in the descriptors to poll, at most RD_ESTABLISHER_POLLS_MAX, and returns their number.
size_t rd_establisher_polls(const struct rd_establisher *establisher, struct pollfd *polls);
int rd_establisher_timeout_ms(const struct rd_establisher *establisher); // -1: none

#endif
