// SPDX-License-Identifier: Apache-2.0
// Socket addresses: from text or the resolver, and as text.
#ifndef RD_BASE_ADDRESS_H
#define RD_BASE_ADDRESS_H

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

// Fills in at most `most` addresses: that of a numeric `host`, or of a path (port 0, beginning with '/'), or all of a
// name. A static build looks up no names. 0 and RD_CODE_CANNOT_CONNECT when there is none.
size_t rd_socket_address_find(const char *host, uint16_t port, struct rd_socket_address *addresses, size_t most,
                              struct rd_error *error);

// Of an IPv4 or IPv6 address; others stay as they are.
void rd_socket_address_set_port(struct rd_socket_address *socket_address, uint16_t port);

// "10.0.0.1:40000", "[::1]:40000", a path, or "a local socket".
void rd_socket_address_text(const struct rd_socket_address *socket_address, char text[RD_SOCKET_ADDRESS_TEXT_BYTES]);

#endif
