// SPDX-License-Identifier: Apache-2.0
// The command after `--`: a producer or consumer that rdsend or rdrecv runs itself, in a process group of its own.
#ifndef RD_CHILD_H
#define RD_CHILD_H

#include "error.h"

#include <sys/types.h>

struct rd_child {
  pid_t pid;   // 0: never started
  int pipe_fd; // our end: what a producer writes, or a consumer reads; -1: closed
  bool exited;
  int wait_status; // once exited
};

#define RD_NO_CHILD ((struct rd_child){.pipe_fd = -1})

// Starts it; `produces`: its standard output is the pipe, else its standard input.
bool rd_child_start(struct rd_child *child, char *const *command, bool produces, struct rd_error *error);
// Has it exited? Does not wait.
bool rd_child_has_exited(struct rd_child *child);
// Waits for it, at most `most_ms` (-1: no limit).
bool rd_child_wait(struct rd_child *child, int most_ms);
// A signal to its process group.
void rd_child_signal(const struct rd_child *child, int signal);
// Its exit status as a shell says it: 128 + signal where one ended it.
int rd_child_status(const struct rd_child *child);

#endif
