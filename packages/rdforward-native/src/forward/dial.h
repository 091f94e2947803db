// SPDX-License-Identifier: Apache-2.0
// Dials one target: tries its addresses one after another, without blocking.
#ifndef RD_FORWARD_DIAL_H
#define RD_FORWARD_DIAL_H

#include "base/address.h"
#include "base/error.h"
#include "base/outcome.h"

#define RD_DIAL_ADDRESSES 8u

struct rd_dial {
  struct rd_socket_address addresses[RD_DIAL_ADDRESSES];
  size_t count, next; // next: the address to try if the current one fails
};

// Dials the next address that gives a socket: *fd, for rd_dial_finish(). AGAIN: the queue of a local socket is full;
// repeat in a moment. FAILED: there is no further address; *error has the last reason.
enum rd_outcome rd_dial_next(struct rd_dial *dial, int *fd, struct rd_error *error);

// Call when the socket is writable or in error. FAILED: continue with rd_dial_next(). AGAIN: not connected yet.
enum rd_outcome rd_dial_finish(int fd, struct rd_error *error);

#endif
