// SPDX-License-Identifier: Apache-2.0
// Memory that a connection sends from: a transport's device is told of it, within what the device may use.
#ifndef RD_ENROLLED_H
#define RD_ENROLLED_H

#include "transport.h"
#include "window.h"

struct rd_enrolled {
  struct rd_transport *transport;
  size_t left_bytes; // that may still be enrolled; SIZE_MAX: there is no limit
};

// What is left beside the receive memory of `window`.
void rd_enrolled_init(struct rd_enrolled *enrolled, struct rd_transport *transport, const struct rd_window *window);
// It must stay until the transport is destroyed.
bool rd_enrolled_add(struct rd_enrolled *enrolled, const void *memory, size_t bytes, struct rd_error *error);
// So many bytes, whole pages; the caller frees them, after the transport. NULL on failure.
unsigned char *rd_enrolled_make(struct rd_enrolled *enrolled, size_t bytes, struct rd_error *error);

#endif
