// SPDX-License-Identifier: Apache-2.0
// Memory that a connection sends from, registered with the transport's device within its limit.
#ifndef RD_TRANSPORT_REGISTERED_H
#define RD_TRANSPORT_REGISTERED_H

#include "transport/transport.h"
#include "wire/window.h"

struct rd_registered {
  struct rd_transport *transport;
  size_t left_bytes; // may still be registered; SIZE_MAX: no limit
};

// The limit is what the receive memory of `window` leaves.
void rd_registered_init(struct rd_registered *registered, struct rd_transport *transport,
                        const struct rd_window *window);
// It must stay until the transport is destroyed.
bool rd_registered_add(struct rd_registered *registered, const void *memory, size_t bytes, struct rd_error *error);
// Allocates and registers whole pages, which the caller frees after the transport. NULL on failure.
unsigned char *rd_registered_make(struct rd_registered *registered, size_t bytes, struct rd_error *error);

#endif
