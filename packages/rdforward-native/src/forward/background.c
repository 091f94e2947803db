// SPDX-License-Identifier: Apache-2.0
#include "forward/background.h"

#include "base/cleanup.h"
#include "base/io.h"

#include <fcntl.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/wait.h>

static _Noreturn void await(pid_t pid, int ready_fd);

bool rd_background_begin(int *ready_fd, struct rd_error *error) {
  int fds[2];
  pid_t first = getpid();
  *ready_fd = -1;
  pid_t pid = pipe2(fds, O_CLOEXEC) < 0 ? -1 : fork();
  if (pid < 0) {
    rd_error_set_errno(error, RD_CODE_INTERNAL, "cannot run in the background");
    return false;
  }
  if (pid > 0) {
    close(fds[1]);
    await(pid, fds[0]);
  }
  close(fds[0]);
  prctl(PR_SET_PDEATHSIG, SIGTERM); // until it is detached
  if (getppid() != first) _exit(255);
  *ready_fd = fds[1];
  return true;
}

void rd_background_detach(int *ready_fd) {
  if (*ready_fd < 0) return;
  prctl(PR_SET_PDEATHSIG, 0);
  setsid();
  RD_AUTO_CLOSE int null_fd = open("/dev/null", O_RDWR | O_CLOEXEC);
  if (null_fd >= 0) {
    dup2(null_fd, STDIN_FILENO);
    dup2(null_fd, STDOUT_FILENO);
  }
  rd_write_all(*ready_fd, "", 1);
  rd_cleanup_fd(ready_fd);
}

static _Noreturn void await(pid_t pid, int ready_fd) {
  char byte;
  int status;
  if (rd_read_some(ready_fd, &byte, 1) == 1) _exit(0);
  while (waitpid(pid, &status, 0) < 0)
    if (errno != EINTR) _exit(255);
  _exit(WIFEXITED(status) ? WEXITSTATUS(status) : 255);
}
