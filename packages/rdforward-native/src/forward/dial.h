// SPDX-License-Identifier: Apache-2.0
// Dials one target: its addresses one after another, never waiting.
#ifndef RD_FORWARD_DIAL_H
#define RD_FORWARD_DIAL_H

#include "base/address.h"
#include "base/error.h"
#include "base/outcome.h"

#define RD_DIAL_ADDRESSES 8u

struct rd_dial {
  struct rd_socket_address addresses[RD_DIAL_ADDRESSES];
  size_t count, next; // next: the one to try when the present one fails
};

// Dials the next address that gives a socket: *fd, whose end of connecting rd_dial_finish() tells. AGAIN: a local
// socket's queue is full, to be repeated in a moment. FAILED: there is no further address; *error has the last reason.
enum rd_outcome rd_dial_next(struct rd_dial *dial, int *fd, struct rd_error *error);

// When the socket is writable or in error. FAILED: rd_dial_next() has the next one. AGAIN: not yet.
enum rd_outcome rd_dial_finish(int fd, struct rd_error *error);

#endif
