// SPDX-License-Identifier: Apache-2.0
// A process that holds a consumer's input open as well as we do, and kills the consumer when we die without a word: so
// that it never takes our death for the end of the stream.
#ifndef RD_GUARD_H
#define RD_GUARD_H

#include "error.h"

#include <sys/types.h>

struct rd_guard {
  pid_t pid;   // 0: none
  int life_fd; // closes with us; -1: none
};

#define RD_NO_GUARD ((struct rd_guard){.life_fd = -1})

// `consumer` leads the process group that reads from the pipe of which `pipe_fd` is the writing end.
bool rd_guard_start(struct rd_guard *guard, pid_t consumer, int pipe_fd, struct rd_error *error);
// The consumer may see the end of its input, or is dead: the guard lets go, and is gone when this returns.
void rd_guard_release(struct rd_guard *guard);

#endif
