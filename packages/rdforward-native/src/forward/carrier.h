// SPDX-License-Identifier: Apache-2.0
// The command that carries a forward stream: a child with pipes that never outlives this process.
#ifndef RD_FORWARD_CARRIER_H
#define RD_FORWARD_CARRIER_H

#include "base/error.h"

#include <stdbool.h>
#include <sys/types.h>

struct rd_carrier {
  pid_t pid;
  int in_fd, out_fd; // output and input of the command, non-blocking
};

#define RD_NO_CARRIER ((struct rd_carrier){.pid = -1, .in_fd = -1, .out_fd = -1})

// Returns false (RD_CODE_INTERNAL) if the command cannot be started.
bool rd_carrier_start(struct rd_carrier *carrier, char *const *command, struct rd_error *error);
// Closes the command's input and waits until the command has ended. If it does not end, or immediately if `is_now` or
// when `signal_fd` has a further signal, sends SIGTERM and then SIGKILL. Returns the exit status, or 128 + the signal
// that killed it.
int rd_carrier_end(struct rd_carrier *carrier, int signal_fd, bool is_now);

#endif
