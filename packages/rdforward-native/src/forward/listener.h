// SPDX-License-Identifier: Apache-2.0
// Listens on one place of -L or -R, a TCP port or a local socket, and accepts its connections.
#ifndef RD_FORWARD_LISTENER_H
#define RD_FORWARD_LISTENER_H

#include "base/outcome.h"
#include "forward/specs.h"
#include "forward/watched.h"

#include <stddef.h>
#include <sys/types.h>

#define RD_FORWARD_LISTENER_SOCKETS 2u // IPv4 and IPv6

struct rd_forward_listener;

// As events name it: `socket` of that listener.
struct rd_forward_listener_socket {
  enum rd_watched kind;
  struct rd_forward_listener *listener;
  int fd;
};

struct rd_forward_listener {
  uint16_t index, port; // port: the one that it has
  struct rd_forward_listener_socket sockets[RD_FORWARD_LISTENER_SOCKETS];
  size_t socket_count;
  char path[RD_PLACE_BYTES]; // of a local socket, which is removed at the end; else ""
  dev_t device;
  ino_t inode;
};

// False (RD_CODE_CANNOT_CONNECT): in use, or not an address of this host. In any case to be closed.
bool rd_forward_listener_open(struct rd_forward_listener *listener, const struct rd_place *place, uint16_t index,
                              struct rd_error *error);
void rd_forward_listener_close(struct rd_forward_listener *listener); // NULL-safe

// *fd: a connection, non-blocking, of the address `peer`. FAILED: descriptors or memory are used up (errno): later.
#define RD_PEER_TEXT_BYTES 160u
enum rd_outcome rd_forward_listener_accept(const struct rd_forward_listener_socket *socket, int *fd,
                                           char peer[RD_PEER_TEXT_BYTES]);

// For connections of both ends: small messages go at once, and a peer that vanished is found in the end.
void rd_connection_tune(int fd);

#endif
