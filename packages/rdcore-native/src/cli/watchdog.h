// SPDX-License-Identifier: Apache-2.0
// A process that kills the group of a command when we die without a word. It holds a consumer's input open as well as
// we do, so that the consumer never takes our death for the end of the stream.
#ifndef RD_CLI_WATCHDOG_H
#define RD_CLI_WATCHDOG_H

#include "base/error.h"

#include <sys/types.h>

struct rd_watchdog {
  pid_t pid;   // 0: none
  int life_fd; // closes with us; -1: none
};

#define RD_NO_WATCHDOG ((struct rd_watchdog){.life_fd = -1})

// `leader` leads the group; `pipe_fd` is the writing end of the pipe that it reads from, or -1.
bool rd_watchdog_start(struct rd_watchdog *watchdog, pid_t leader, int pipe_fd, struct rd_error *error);
// The command may see the end of its input, or is dead: the watchdog lets go, and is gone when this returns. Does
// nothing when there is none.
void rd_watchdog_release(struct rd_watchdog *watchdog);

#endif
