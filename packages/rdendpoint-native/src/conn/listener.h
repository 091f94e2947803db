// SPDX-License-Identifier: Apache-2.0
// A listener over TCP or RDMA: accepts connections, and pauses when it cannot.
#ifndef RD_CONN_LISTENER_H
#define RD_CONN_LISTENER_H

#include "transport/transport.h"

#include <poll.h>

struct rd_listen_config {
  bool rdma;
  char bind_host[256]; // empty: every address
  uint16_t port_low, port_high;
};

// All zeros: closed.
struct rd_listener {
  struct rd_connector *connector; // NULL: closed
  int64_t resumes_at_ms;          // 0: not paused
};

// Replaces the current listener. `poll`: see transport/verbs/connector.h. Returns false if it cannot listen.
bool rd_listener_open(struct rd_listener *listener, const struct rd_listen_config *config, bool poll, uint16_t *port,
                      struct rd_error *error);
void rd_listener_close(struct rd_listener *listener); // a closed listener is allowed

// Returns true with a connection in *transport, which the caller owns.
bool rd_listener_accept(struct rd_listener *listener, struct rd_transport **transport);

// Fills in the descriptor to poll. Returns the number of descriptors: 1 or 0.
size_t rd_listener_polls(const struct rd_listener *listener, struct pollfd *polls);
// When it has to be called without an event, on the clock of rd_now_ms(); INT64_MAX: never.
int64_t rd_listener_due_ms(const struct rd_listener *listener);

#endif
