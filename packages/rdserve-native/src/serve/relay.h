// SPDX-License-Identifier: Apache-2.0
// The process of one connection: it authenticates the client, then passes lines to and from the agent.
#ifndef RD_SERVE_RELAY_H
#define RD_SERVE_RELAY_H

#include "serve/clients.h"

#include <stdint.h>

// A message between a relay and its server, one per datagram.
struct rd_relay_message {
  enum {
    RD_RELAY_PROVED,   // to the server: `text` is the name of the client; the answer is one of the next two
    RD_RELAY_ADMITTED, // to the relay: the agent is running
    RD_RELAY_REFUSED,  // to the relay: `text` is the reason, for the client
    RD_RELAY_STRANGER, // to the server: `text` is why the handshake failed
    RD_RELAY_OPENED,   // to the server: the client's first copy; `text` is the path, `number` the rights
    RD_RELAY_DENIED,   // to the server: `text` is why the agent refused what the client asked for
    RD_RELAY_MOVED,    // to the server: `number` bytes received, `sent` bytes sent since the last message
  } type;
  uint64_t number, sent;
  char text[512];
};

struct rd_relay {
  int socket_fd; // to the client; never blocks
  int server_fd; // for messages
  int agent_fd;  // a stream socket: the agent's standard input and output
  const struct rd_clients *clients;
};

// Runs in a process of its own that holds only these descriptors: drops all privileges that it does not need before it
// reads from the client, and exits at the end.
_Noreturn void rd_relay_run(const struct rd_relay *relay);

#endif
