// SPDX-License-Identifier: Apache-2.0
// Turns off the delays of TCP on the connection of a child process while it logs in.
//
// ssh and sshd turn off Nagle's algorithm only when a session begins. Until then small messages wait for
// acknowledgements, which the other end delays for 40 ms: the client's first one after the key exchange, and the
// server's answer to the request for a channel (docs/notes/start-up.md).
#ifndef RD_STAGE_NO_DELAY_H
#define RD_STAGE_NO_DELAY_H

#include <stdbool.h>
#include <sys/types.h>

struct rd_no_delay {
  int process_fd; // of the child, to search for its connection; -1: the search has ended
  int socket_fd;  // a copy of the connection's descriptor; -1: it was not found, or its delays no longer matter
  int steps;
};

// Begins with the first TCP connection of the child `pid`. This needs Linux 5.6 and permission to trace the child;
// without them, all other functions do nothing.
void rd_no_delay_begin(struct rd_no_delay *self, pid_t pid);

// Searches for the connection, or acknowledges what the child has read from it. Returns true if this step found it:
// from then on, small messages never wait.
bool rd_no_delay_step(struct rd_no_delay *self);

// Ends the steps soon: the login is over, and the first session follows.
void rd_no_delay_logged_in(struct rd_no_delay *self);

// Returns the time until the next step as a timeout of poll(); -1: none is left.
int rd_no_delay_timeout_ms(const struct rd_no_delay *self);

// Closes the descriptors. NULL and an object that has ended are allowed.
void rd_no_delay_end(struct rd_no_delay *self);

#endif
