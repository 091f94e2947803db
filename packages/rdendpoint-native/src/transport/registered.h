// SPDX-License-Identifier: Apache-2.0
// Memory that a connection sends from, registered with the transport's device within its limit.
#ifndef RD_TRANSPORT_REGISTERED_H
#define RD_TRANSPORT_REGISTERED_H

#include "transport/transport.h"
#include "wire/window.h"

struct rd_registered {
  struct rd_transport *transport;
  size_t left_bytes; // how much may still be registered; SIZE_MAX: no limit
};

// Sets the limit to the memory that the receive slots of `window` leave free.
void rd_registered_init(struct rd_registered *registered, struct rd_transport *transport,
                        const struct rd_window *window);
// Registers memory, which must stay valid until the transport is destroyed.
bool rd_registered_add(struct rd_registered *registered, const void *memory, size_t bytes, struct rd_error *error);
// Allocates and registers pages; free them with free() after the transport. NULL on failure.
unsigned char *rd_registered_make(struct rd_registered *registered, size_t bytes, struct rd_error *error);

#endif
