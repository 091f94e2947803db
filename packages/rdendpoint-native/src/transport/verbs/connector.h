// SPDX-License-Identifier: Apache-2.0
// RDMA connectors: a listener and a dial; in a build without RDMA both fail (none.c).
#ifndef RD_TRANSPORT_VERBS_CONNECTOR_H
#define RD_TRANSPORT_VERBS_CONNECTOR_H

#include "transport/transport.h"

// Returns true if this process can use RDMA; if not, *error names what is missing. The first call opens the libraries;
// the process must not fork after that.
bool rd_verbs_usable(struct rd_error *error);
// Like rd_tcp_listen() and rd_tcp_dial(), over RDMA. With `poll` the caller must call the transports all the time:
// their descriptors become ready only when the connection ends.
struct rd_connector *rd_verbs_listen(const char *bind_host, uint16_t low, uint16_t high, bool poll, uint16_t *port,
                                     struct rd_error *error);
struct rd_connector *rd_verbs_dial(const struct rd_address *address, bool poll, struct rd_error *error);

#endif
