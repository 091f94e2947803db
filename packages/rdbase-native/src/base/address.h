// SPDX-License-Identifier: Apache-2.0
// Socket addresses: parsed from text, looked up by name, and formatted as text.
#ifndef RD_BASE_ADDRESS_H
#define RD_BASE_ADDRESS_H

#include "base/error.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/socket.h>

struct rd_socket_address {
  struct sockaddr_storage address;
  socklen_t bytes; // 0: unknown
};

// Long enough for every socket path and every address with zone and port.
#define RD_SOCKET_ADDRESS_TEXT_BYTES 160u

// Fills in up to `most` addresses and returns their number: one for a numeric `host` or for a path (port 0, and `host`
// begins with '/'), all of them for a name. A static build cannot look up names. Returns 0 and sets
// RD_CODE_CANNOT_CONNECT if there is no address.
size_t rd_socket_address_find(const char *host, uint16_t port, struct rd_socket_address *addresses, size_t most,
                              struct rd_error *error);

// Returns true if `host` is a path or a numeric address, so that no service is asked for it.
bool rd_socket_address_is_known(const char *host);

// Sets the port of an IPv4 or IPv6 address. Leaves other addresses unchanged.
void rd_socket_address_set_port(struct rd_socket_address *socket_address, uint16_t port);

// Formats an address: "10.0.0.1:40000", "[::1]:40000", a path, or "a local socket".
void rd_socket_address_text(const struct rd_socket_address *socket_address, char text[RD_SOCKET_ADDRESS_TEXT_BYTES]);

#endif
