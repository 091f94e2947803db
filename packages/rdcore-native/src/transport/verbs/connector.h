// SPDX-License-Identifier: Apache-2.0
// RDMA: a listener and a dial; in a build without its headers, refusals (none.c).
#ifndef RD_TRANSPORT_VERBS_CONNECTOR_H
#define RD_TRANSPORT_VERBS_CONNECTOR_H

#include "transport/transport.h"

// Can this process do RDMA? False: *error has what is missing. The first call opens the libraries; nothing of this
// program may fork after it.
bool rd_verbs_usable(struct rd_error *error);
// As rd_tcp_listen() and rd_tcp_dial(), over RDMA. With `poll` what comes of it never sleeps: it is to be asked all the
// time, and its descriptor tells of the connection's end only.
struct rd_connector *rd_verbs_listen(const char *bind_host, uint16_t low, uint16_t high, bool poll, uint16_t *port,
                                     struct rd_error *error);
struct rd_connector *rd_verbs_dial(const struct rd_address *address, bool poll, struct rd_error *error);

#endif
