// SPDX-License-Identifier: Apache-2.0
// The command after `--`: a producer or consumer in its own process group.
#ifndef RD_CLI_CHILD_H
#define RD_CLI_CHILD_H

#include "base/error.h"

#include <stddef.h>
#include <sys/types.h>

struct rd_child {
  char *const *command; // borrowed
  pid_t pid;            // 0: no process
  int pipe_fd;          // this end of the pipe to its standard input or from its standard output; -1: closed
  int go_fd;            // writing a byte to it starts the command; -1: the command was started
  int report_fd;        // reads the errno of a failed exec; -1: the command is running
  bool exited;          // it is not reaped while this process lives, so that its process and group ids are not reused
  int status;           // once exited, as in a shell's $?
};

#define RD_CHILD_FDS_MAX 3u
#define RD_NO_CHILD ((struct rd_child){.pipe_fd = -1, .go_fd = -1, .report_fd = -1})

// Forks a process that waits for rd_child_run() before it executes the command. The pipe becomes its standard output if
// `produces`, otherwise its standard input. The `fd_count` descriptors `fds` become its descriptors from 3 on, and
// remain the caller's; there may be RD_CHILD_FDS_MAX. Call this first: a process must not fork once it has opened an
// RDMA device.
bool rd_child_fork(struct rd_child *child, char *const *command, bool produces, const int *fds, size_t fd_count,
                   struct rd_error *error);
// Executes the command. Returns false (RD_CODE_USAGE) if it cannot be executed.
bool rd_child_run(struct rd_child *child, struct rd_error *error);
// Ends a process that is still waiting, without executing its command. Does nothing if the command is running.
void rd_child_forget(struct rd_child *child);
// Returns true once it has exited. Does not wait.
bool rd_child_has_exited(struct rd_child *child);
// Waits for its exit, at most `most_ms` (-1: no limit). Returns false if it is still running.
bool rd_child_wait(struct rd_child *child, int most_ms);
// Sends a signal to its process group, even after the leader has exited.
void rd_child_signal(const struct rd_child *child, int signal);
// Returns its exit status as in a shell's $?: 128 + the signal if a signal killed it.
int rd_child_status(const struct rd_child *child);

#endif
