// SPDX-License-Identifier: Apache-2.0
// Addresses of connections: from text, from the resolver, and back to words.
#ifndef RD_TRANSPORT_ADDRESS_H
#define RD_TRANSPORT_ADDRESS_H

#include "base/error.h"

#include <stddef.h>
#include <stdint.h>
#include <sys/socket.h>

struct rd_socket_address {
  struct sockaddr_storage address;
  socklen_t bytes; // 0: unknown
};

// Long enough for every socket path and every address with zone and port.
#define RD_SOCKET_ADDRESS_TEXT_BYTES 160u

// Fills at most `most` addresses: the one that `host` is (a numeric address, or with port 0 a path that begins with
// '/'), or all that the name has. A static build looks up no names. 0 and RD_CODE_CANNOT_CONNECT when there is none.
size_t rd_socket_address_find(const char *host, uint16_t port, struct rd_socket_address *addresses, size_t most,
                              struct rd_error *error);

// Of an IPv4 or IPv6 address; nothing happens to others.
void rd_socket_address_set_port(struct rd_socket_address *socket_address, uint16_t port);

// "10.0.0.1:40000", "[::1]:40000", a path, or "a local socket".
void rd_socket_address_text(const struct rd_socket_address *socket_address, char text[RD_SOCKET_ADDRESS_TEXT_BYTES]);

#endif
