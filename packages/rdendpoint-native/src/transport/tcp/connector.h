// SPDX-License-Identifier: Apache-2.0
// TCP and other stream sockets: a listener, a dial, and sockets that are already connected.
#ifndef RD_TRANSPORT_TCP_CONNECTOR_H
#define RD_TRANSPORT_TCP_CONNECTOR_H

#include "transport/transport.h"

// Listens on `bind_host` (NULL or "": every address, IPv6 and IPv4) and the first free port of [low, high], 0 for the
// kernel's choice. An address that is not this machine's falls back to every address.
struct rd_connector *rd_tcp_listen(const char *bind_host, uint16_t low, uint16_t high, uint16_t *port,
                                   struct rd_error *error);
// Whether it is an address of this machine. False: another machine's, or no address.
bool rd_tcp_is_here(const char *host, struct rd_error *error);
// Begins to dial one address (of a name: its addresses, one after the other). When all refuse or are unreachable: NULL
// at once, or accept() fails; RD_CODE_CANNOT_CONNECT, and errno. Gives one connection, then AGAIN for ever.
struct rd_connector *rd_tcp_dial(const struct rd_address *address, struct rd_error *error);
// Takes a connected stream socket (closes it on destroy, also when this fails).
struct rd_transport *rd_tcp_adopt(int fd, struct rd_error *error);

#endif
