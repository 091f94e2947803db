// SPDX-License-Identifier: Apache-2.0
// Listens at one address of -L or -R, a TCP port or a local socket, and accepts its connections.
#ifndef RD_FORWARD_LISTENER_H
#define RD_FORWARD_LISTENER_H

#include "base/outcome.h"
#include "forward/specs.h"
#include "forward/watched.h"

#include <stddef.h>
#include <sys/types.h>

#define RD_FORWARD_LISTENER_SOCKETS 2u // IPv4 and IPv6

struct rd_forward_listener;

// One socket of `listener`, as events refer to it.
struct rd_forward_listener_socket {
  enum rd_watched kind;
  struct rd_forward_listener *listener;
  int fd;
};

struct rd_forward_listener {
  uint16_t index, port; // port: the actual one
  struct rd_forward_listener_socket sockets[RD_FORWARD_LISTENER_SOCKETS];
  size_t socket_count;
  char path[RD_PLACE_BYTES]; // of a local socket, which is removed at the end; otherwise ""
  dev_t device;
  ino_t inode;
};

// Returns false (RD_CODE_CANNOT_CONNECT) if the address is in use or does not belong to this host. Close the listener
// in any case.
bool rd_forward_listener_open(struct rd_forward_listener *listener, const struct rd_place *place, uint16_t index,
                              struct rd_error *error);
void rd_forward_listener_close(struct rd_forward_listener *listener); // NULL-safe

// Accepts a connection: *fd, non-blocking, from the address `peer`. FAILED: descriptors or memory are exhausted
// (errno); try later.
#define RD_PEER_TEXT_BYTES 160u
enum rd_outcome rd_forward_listener_accept(const struct rd_forward_listener_socket *socket, int *fd,
                                           char peer[RD_PEER_TEXT_BYTES]);

// Sets the options of a connection at either end: small messages are sent without delay, and a vanished peer is
// detected eventually.
void rd_connection_tune(int fd);

#endif
