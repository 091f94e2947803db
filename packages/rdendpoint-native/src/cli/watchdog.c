// SPDX-License-Identifier: Apache-2.0
#include "cli/watchdog.h"

#include "base/cleanup.h"
#include "base/io.h"
#include "hop/process_group.h"

#include <fcntl.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/wait.h>

#define KILL_MS 10000
#define LIFE_FD 0
#define PIPE_FD 1

static _Noreturn void watch(pid_t leader, int life_fd, int pipe_fd);

bool rd_watchdog_start(struct rd_watchdog *watchdog, pid_t leader, int pipe_fd, struct rd_error *error) {
  int life_fds[2];
  pid_t pid = -1;
  if (pipe2(life_fds, O_CLOEXEC) == 0) {
    pid = fork();
    if (pid == 0) watch(leader, life_fds[0], pipe_fd);
    close(life_fds[0]);
    if (pid < 0) close(life_fds[1]);
  }
  if (pid < 0) {
    rd_error_set_errno(error, RD_CODE_INTERNAL, "cannot start a watchdog");
    return false;
  }
  *watchdog = (struct rd_watchdog){.pid = pid, .life_fd = life_fds[1]};
  return true;
}

void rd_watchdog_release(struct rd_watchdog *watchdog) {
  if (watchdog->pid <= 0) return;
  rd_write_all(watchdog->life_fd, "", 1);
  rd_cleanup_fd(&watchdog->life_fd);
  while (waitpid(watchdog->pid, NULL, 0) < 0 && errno == EINTR) continue;
  *watchdog = RD_NO_WATCHDOG;
}

// Runs in its own session, so that a signal from the terminal does not end it.
static _Noreturn void watch(pid_t leader, int life_fd, int pipe_fd) {
  setsid();
  prctl(PR_SET_NAME, "rd-watchdog");
  for (int number = SIGHUP; number <= SIGTERM; number++) signal(number, SIG_IGN);
  // Keeps only these two descriptors: they are moved to the lowest numbers, and one call closes the rest.
  int keepalive = fcntl(life_fd, F_DUPFD_CLOEXEC, 3),
      pipe_end = pipe_fd >= 0 ? fcntl(pipe_fd, F_DUPFD_CLOEXEC, 3) : keepalive;
  if (keepalive < 0 || pipe_end < 0 || dup2(keepalive, LIFE_FD) < 0 || dup2(pipe_end, PIPE_FD) < 0) _exit(1);
  close_range(2, ~0U, 0);
  struct rd_process_group group = rd_process_group_of(leader);
  char byte;
  if (rd_read_some(LIFE_FD, &byte, 1) != 1) rd_process_group_kill(&group, KILL_MS);
  _exit(0);
}
