// SPDX-License-Identifier: Apache-2.0
// The command that carries a forward stream: a child with pipes, which never outlives this process.
#ifndef RD_FORWARD_CARRIER_H
#define RD_FORWARD_CARRIER_H

#include "base/error.h"

#include <stdbool.h>
#include <sys/types.h>

struct rd_carrier {
  pid_t pid;
  int in_fd, out_fd; // its output and input, non-blocking
};

#define RD_NO_CARRIER ((struct rd_carrier){.pid = -1, .in_fd = -1, .out_fd = -1})

// False (RD_CODE_INTERNAL).
bool rd_carrier_start(struct rd_carrier *carrier, char *const *command, struct rd_error *error);
// Ends its input and waits until it has ended; SIGTERM and then SIGKILL help, at once if `is_now` or when `signal_fd`
// has a further signal. Returns its exit status, 128 + the signal that ended it.
int rd_carrier_end(struct rd_carrier *carrier, int signal_fd, bool is_now);

#endif
