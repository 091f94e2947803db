// SPDX-License-Identifier: Apache-2.0
#include "ssh/terminal_input.h"

#include "base/io.h"

#include <signal.h>
#include <stdlib.h>
#include <sys/prctl.h>
#include <unistd.h>

static void pass_on(int out_fd, pid_t parent);

bool rd_terminal_input_start(struct rd_error *error) {
  int ends[2];
  pid_t parent = getpid();
  if (pipe(ends) < 0) {
    rd_error_set_errno(error, RD_CODE_INTERNAL, "cannot read the terminal");
    return false;
  }
  pid_t child = fork();
  if (child == 0) {
    close(ends[0]);
    pass_on(ends[1], parent);
  }
  bool started = child > 0 && dup2(ends[0], STDIN_FILENO) >= 0;
  if (!started) rd_error_set_errno(error, RD_CODE_INTERNAL, "cannot read the terminal");
  close(ends[0]);
  close(ends[1]);
  return started;
}

// Keeps no other descriptor open: a reader of this program's output waits for the last writer.
_Noreturn static void pass_on(int out_fd, pid_t parent) {
  char bytes[4096];
  prctl(PR_SET_PDEATHSIG, SIGKILL);
  if (getppid() != parent) _exit(EXIT_FAILURE);
  close(STDOUT_FILENO);
  close(STDERR_FILENO);
  for (ssize_t count; (count = rd_read_some(STDIN_FILENO, bytes, sizeof bytes)) > 0;)
    if (!rd_write_all(out_fd, bytes, (size_t)count)) break;
  _exit(EXIT_SUCCESS);
}
