// SPDX-License-Identifier: Apache-2.0
// A process that kills the command's process group if its parent dies without releasing it.
// It also holds a consumer's input open, so that the consumer does not mistake the parent's death for the end of the
// stream.
#ifndef RD_CLI_WATCHDOG_H
#define RD_CLI_WATCHDOG_H

#include "base/error.h"

#include <sys/types.h>

struct rd_watchdog {
  pid_t pid;   // 0: none
  int life_fd; // closed by the kernel when this process dies; -1: none
};

#define RD_NO_WATCHDOG ((struct rd_watchdog){.life_fd = -1})

// Starts the watchdog. `leader` leads the process group; `pipe_fd` is the write end of the pipe that it reads from, or
// -1.
bool rd_watchdog_start(struct rd_watchdog *watchdog, pid_t leader, int pipe_fd, struct rd_error *error);
// Ends the watchdog, because the command is dead or may see the end of its input. Waits until the watchdog has exited.
// Does nothing if there is none.
void rd_watchdog_release(struct rd_watchdog *watchdog);

#endif
