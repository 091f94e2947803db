// SPDX-License-Identifier: Apache-2.0
// Listens for TCP connections on a port of a range.
#ifndef RD_BASE_LISTENING_H
#define RD_BASE_LISTENING_H

#include "base/address.h"

// Listens on the address, on the first port from `low` to `high` that is free and permitted; 0 and 0: on any port. An
// IPv6 socket serves IPv4 as well. Returns a non-blocking, close-on-exec descriptor, or -1 with errno.
int rd_listen(struct rd_socket_address address, uint16_t low, uint16_t high);

// The same on all addresses of this machine, also if IPv6 is off.
int rd_listen_everywhere(uint16_t low, uint16_t high);

// Returns the port of a TCP socket that is bound, or 0.
uint16_t rd_listening_port(int fd);

#endif
