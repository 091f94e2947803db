// SPDX-License-Identifier: Apache-2.0
// Messages over an RDMA connection, for verbs_connect.c.
#ifndef RD_TRANSPORT_VERBS_TRANSPORT_H
#define RD_TRANSPORT_VERBS_TRANSPORT_H

#include "transport/transport.h"
#include "transport/verbs/id.h"

// A queue pair with posted buffers on the device of `id`, which is taken over, also when this fails; to be called
// before rdma_connect() or rdma_accept(). `poll`: never ask the device to wake anybody.
struct rd_transport *rd_verbs_transport_create(struct rd_verbs_id *id, bool poll, struct rd_error *error);

// The id of a transport that is still being connected; it stays the transport's.
struct rd_verbs_id *rd_verbs_transport_id(struct rd_transport *transport);

// The id says that the connection is there: from now on it sends.
void rd_verbs_transport_established(struct rd_transport *transport);

#endif
