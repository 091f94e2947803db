// SPDX-License-Identifier: Apache-2.0
// TCP and any other stream socket: a listener, a dial, and a socket that somebody else connected.
#ifndef RD_TRANSPORT_TCP_CONNECTOR_H
#define RD_TRANSPORT_TCP_CONNECTOR_H

#include "transport/transport.h"

// Listens on `bind_host` (NULL or "": every address, IPv6 and IPv4) and the first free port of [low, high], 0 for the
// kernel's choice. An address that is not this machine's falls back to every address.
struct rd_connector *rd_tcp_listen(const char *bind_host, uint16_t low, uint16_t high, uint16_t *port,
                                   struct rd_error *error);
// Is it an address of this machine? False: no, or no address at all.
bool rd_tcp_is_here(const char *host, struct rd_error *error);
// Begins to dial one address (a name: what it stands for, one after the other). Refused, unreachable: NULL at once, or
// accept() fails; RD_CODE_CANNOT_CONNECT, and errno. Gives one connection, and is silent after it.
struct rd_connector *rd_tcp_dial(const struct rd_address *address, struct rd_error *error);
// Takes a connected stream socket (closes it on destroy, also when this fails).
struct rd_transport *rd_tcp_adopt(int fd, struct rd_error *error);

#endif
