// SPDX-License-Identifier: Apache-2.0
// The command after `--`: a producer or consumer that rdsend or rdrecv runs itself, in a process group of its own.
#ifndef RD_CLI_CHILD_H
#define RD_CLI_CHILD_H

#include "base/error.h"

#include <sys/types.h>

struct rd_child {
  char *const *command; // borrowed
  pid_t pid;            // 0: none
  int pipe_fd;          // our end: what a producer writes, or a consumer reads; -1: closed
  int go_fd;            // what it waits for; -1: it runs
  int report_fd;        // why it could not run; -1: it does
  bool exited;          // it is not waited for: while we live, nothing else has its number, nor its group's
  int status;           // once exited, as a shell says it
};

#define RD_NO_CHILD ((struct rd_child){.pipe_fd = -1, .go_fd = -1, .report_fd = -1})

// Makes its process, which waits: nothing of the command runs yet. `produces`: its standard output is the pipe, else
// its standard input. A process that uses RDMA must not fork any more, so this comes first.
bool rd_child_fork(struct rd_child *child, char *const *command, bool produces, struct rd_error *error);
// Lets the command run.
bool rd_child_run(struct rd_child *child, struct rd_error *error);
// Ends a process that still waits: its command never runs. Does nothing to one that runs.
void rd_child_forget(struct rd_child *child);
// Has it exited? Does not wait.
bool rd_child_has_exited(struct rd_child *child);
// Waits for it, at most `most_ms` (-1: no limit).
bool rd_child_wait(struct rd_child *child, int most_ms);
// A signal to its process group, whose leader may have exited.
void rd_child_signal(const struct rd_child *child, int signal);
// Its exit status as a shell says it: 128 + signal where one ended it.
int rd_child_status(const struct rd_child *child);

#endif
