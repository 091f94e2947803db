// SPDX-License-Identifier: Apache-2.0
// From "listen", "dial" or "adopt" to an authenticated connection. Any number of them may go on at once; the sender
// takes the first connection that authenticates, the receiver the one its sender has taken, and everything else is
// closed, but for the way it came: a listener goes on listening and a dialer can dial again, for when the connection
// breaks (docs/protocol.md, section 1.6). Nothing here blocks.
#ifndef RD_CONN_ESTABLISHER_H
#define RD_CONN_ESTABLISHER_H

#include "conn/connection.h"
#include "conn/dialer.h"
#include "conn/pending_list.h"
#include "wire/window.h"

#define RD_ESTABLISHER_POLLS_MOST (2u + RD_DIALER_MOST + RD_PENDING_MOST)

enum rd_encrypt {
  RD_ENCRYPT_AUTO, // as RD_ENCRYPT_TCP, but plain where the peer's address is a loopback address or a path
  RD_ENCRYPT_ALWAYS,
  RD_ENCRYPT_AUTH,  // a MAC, unless the other end wants it sealed
  RD_ENCRYPT_NEVER, // plain, unless the other end wants more
  RD_ENCRYPT_TCP,   // sealed over TCP, with a MAC over RDMA
};

struct rd_establisher_config {
  struct rd_identity identity;
  enum rd_role role;
  enum rd_encrypt encrypt;
  size_t buffer_bytes;      // receiver: what its HELLO grants, where the transport has the memory; sender: 0
  int64_t stall_timeout_ms; // of the connection, as the next two
  int compress_level;
  unsigned jobs;
  struct rd_dialer_config dialer; // its timeout also ends what was adopted
  // A connector that was rejected, or NULL. Called once a kind of reason.
  void (*rejected)(void *context, const char *peer, const struct rd_error *why);
  // A peer was chosen, who comes over this device, and memory for its data is made next; or NULL.
  void (*bind_numa)(void *context, const char *device);
  void *context;
};

struct rd_establisher; // opaque

struct rd_listen_config {
  bool rdma;
  char bind_host[256]; // empty: every address
  uint16_t port_low, port_high;
};

// Strings and key of the config must outlive it; rd_establisher_destroy() closes everything.
struct rd_establisher *rd_establisher_create(const struct rd_establisher_config *config);
void rd_establisher_destroy(struct rd_establisher *establisher); // NULL-safe

// One listener a transport; a second one replaces the first. False: it cannot listen there; whatever else goes on, goes
// on.
bool rd_establisher_listen(struct rd_establisher *establisher, const struct rd_listen_config *listen, uint16_t *port,
                           struct rd_error *error);
// See rd_dialer_add().
bool rd_establisher_dial(struct rd_establisher *establisher, const struct rd_address *addresses, size_t count,
                         struct rd_error *error);
// Takes over a connection that exists already (also when it fails); `dialer`: this end is the TLS client.
bool rd_establisher_adopt(struct rd_establisher *establisher, struct rd_transport *transport, bool is_dialer,
                          struct rd_error *error);

// Goes on as far as it can. DONE: rd_establisher_take() is to be called. FAILED: the last of the dials failed
// (RD_CODE_CANNOT_CONNECT, RD_CODE_KEY_REFUSED …); a listener goes on, and dialing again is possible.
enum rd_outcome rd_establisher_service(struct rd_establisher *establisher, struct rd_error *error);
// The connection, newer than all before it; of an earlier one the device's memory must have been given back. AGAIN:
// nothing came of it, and connecting goes on. FAILED: there is no memory here for this one, nor for any other.
enum rd_outcome rd_establisher_take(struct rd_establisher *establisher, struct rd_connection **connection,
                                    struct rd_error *error);

// The connection is broken, or silent: whoever dialed dials again, until it is refused; a listener listens anyway.
// False: there is no way to another one.
bool rd_establisher_reconnect(struct rd_establisher *establisher);
// The connection lives after all: gives up what rd_establisher_reconnect() began.
void rd_establisher_cancel(struct rd_establisher *establisher);

// What to poll, at most RD_ESTABLISHER_POLLS_MOST; returns how many were filled in.
size_t rd_establisher_polls(const struct rd_establisher *establisher, struct pollfd *polls);
int rd_establisher_timeout_ms(const struct rd_establisher *establisher); // -1: none

#endif
