// SPDX-License-Identifier: Apache-2.0
// TCP and other stream sockets: a listener, a dial, and sockets that are already connected.
#ifndef RD_TRANSPORT_TCP_CONNECTOR_H
#define RD_TRANSPORT_TCP_CONNECTOR_H

#include "transport/transport.h"

// Listens on `bind_host` (NULL or "": every address, IPv6 and IPv4) and the first free port of [low, high]; 0 lets the
// kernel choose. If the address does not belong to this machine, listens on every address.
struct rd_connector *rd_tcp_listen(const char *bind_host, uint16_t low, uint16_t high, uint16_t *port,
                                   struct rd_error *error);
// Returns true if `host` is an address of this machine; false if it is another machine's or not an address.
bool rd_tcp_is_here(const char *host, struct rd_error *error);
// Begins to dial one address (if `host` is a name, its addresses one after the other). If all of them refuse or are
// unreachable, returns NULL at once, or accept() fails later: RD_CODE_CANNOT_CONNECT, and errno. Yields one connection,
// then AGAIN forever.
struct rd_connector *rd_tcp_dial(const struct rd_address *address, struct rd_error *error);
// Takes ownership of a connected stream socket, even on failure; closes it on destroy.
struct rd_transport *rd_tcp_adopt(int fd, struct rd_error *error);

#endif
