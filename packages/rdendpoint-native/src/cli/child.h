// SPDX-License-Identifier: Apache-2.0
// The command after `--`: a producer or consumer in a process group of its own.
#ifndef RD_CLI_CHILD_H
#define RD_CLI_CHILD_H

#include "base/error.h"

#include <sys/types.h>

struct rd_child {
  char *const *command; // borrowed
  pid_t pid;            // 0: none
  int pipe_fd;          // our end of the pipe to its standard input or from its standard output; -1: closed
  int go_fd;            // a byte written to it starts the command; -1: the command was started
  int report_fd;        // the errno of a failed exec comes from it; -1: the command runs
  bool exited;          // it stays a zombie while this process lives, so that its process and group ids are not reused
  int status;           // once exited, as a shell's $?
};

#define RD_NO_CHILD ((struct rd_child){.pipe_fd = -1, .go_fd = -1, .report_fd = -1})

// Forks a process that waits for rd_child_run() before it executes the command. `produces`: the pipe is its standard
// output, else its standard input. `settings_fd`, which stays the caller's, becomes its descriptor 3; -1: none. A
// process must not fork once it has opened an RDMA device, so this comes first.
bool rd_child_fork(struct rd_child *child, char *const *command, bool produces, int settings_fd,
                   struct rd_error *error);
// Executes the command. False: it cannot be executed (RD_CODE_USAGE).
bool rd_child_run(struct rd_child *child, struct rd_error *error);
// Ends a process that still waits, without executing its command. Does nothing if the command runs.
void rd_child_forget(struct rd_child *child);
// True once it has exited. Does not wait.
bool rd_child_has_exited(struct rd_child *child);
// Waits for its exit, at most `most_ms` (-1: no limit). False: it still runs.
bool rd_child_wait(struct rd_child *child, int most_ms);
// Sends a signal to its process group, also after the leader has exited.
void rd_child_signal(const struct rd_child *child, int signal);
// Its exit status as a shell's $?: 128 + the signal if one killed it.
int rd_child_status(const struct rd_child *child);

#endif
