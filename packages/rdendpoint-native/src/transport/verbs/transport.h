// SPDX-License-Identifier: Apache-2.0
// The RDMA transport: messages over a reliable connected queue pair.
#ifndef RD_TRANSPORT_VERBS_TRANSPORT_H
#define RD_TRANSPORT_VERBS_TRANSPORT_H

#include "transport/transport.h"
#include "transport/verbs/id.h"

// Creates a queue pair with posted buffers on the device of `id`. Takes ownership of `id`, even on failure. Call before
// rdma_connect() or rdma_accept(). `poll`: never request wake-ups. NULL on failure.
struct rd_transport *rd_verbs_transport_create(struct rd_verbs_id *id, bool poll, struct rd_error *error);

// Returns the id of a transport that is still connecting; it remains the transport's.
struct rd_verbs_id *rd_verbs_transport_id(struct rd_transport *transport);

// The connection is established: the transport may send from now on.
void rd_verbs_transport_established(struct rd_transport *transport);

#endif
