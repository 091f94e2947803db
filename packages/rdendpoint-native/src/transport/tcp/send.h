// SPDX-License-Identifier: Apache-2.0
// The sending half of a TCP connection: a queue of accepted messages, sent many at a time.
#ifndef RD_TRANSPORT_TCP_SEND_H
#define RD_TRANSPORT_TCP_SEND_H

#include "base/error.h"
#include "base/outcome.h"
#include "transport/reorder.h"

#include <stdint.h>
#include <sys/uio.h>

#define RD_TCP_LENGTH_BYTES 4u // before each message
#define RD_TCP_SEND_PARTS_MAX 4
#define RD_TCP_SEND_QUEUE_MAX 16u

struct rd_tcp_send_message {
  unsigned char length[RD_TCP_LENGTH_BYTES];
  struct iovec parts[1 + RD_TCP_SEND_PARTS_MAX]; // still to be sent; the first one is the length
  int count;
  uint64_t index; // among all messages of the transport
};

// All zeros: nothing is queued.
struct rd_tcp_send {
  struct rd_tcp_send_message queue[RD_TCP_SEND_QUEUE_MAX];
  unsigned queue_first, queue_count;
};

// Implements the transport's send(), for its message `index`, with this number (0 without numbers).
enum rd_outcome rd_tcp_send_accept(struct rd_tcp_send *send, const struct iovec *parts, int count, uint64_t index,
                                   unsigned number, struct rd_error *error);
// Sends as much of the queue as the socket takes without waiting, and counts what it has taken completely. Returns
// false, with errno, if the connection ended.
bool rd_tcp_send_flush(struct rd_tcp_send *send, int fd, struct rd_release_count *released);

#endif
