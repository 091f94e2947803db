// SPDX-License-Identifier: Apache-2.0
#include "child.h"

#include "cleanup.h"
#include "io.h"

#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <sys/syscall.h>
#include <sys/wait.h>

static _Noreturn void become(char *const *command, int stdio_fd, int pipe_fd, int report_fd);
static bool hear_of_exec(struct rd_child *child, int report_fd, const char *name, struct rd_error *error);

bool rd_child_start(struct rd_child *child, char *const *command, bool produces, struct rd_error *error) {
  int pipe_fds[2], report_fds[2];
  if (pipe2(pipe_fds, O_CLOEXEC) < 0) {
    rd_error_set_errno(error, RD_CODE_INTERNAL, "cannot make a pipe");
    return false;
  }
  RD_AUTO_CLOSE int ours = pipe_fds[produces ? 0 : 1];
  RD_AUTO_CLOSE int theirs = pipe_fds[produces ? 1 : 0];
  if (pipe2(report_fds, O_CLOEXEC) < 0) {
    rd_error_set_errno(error, RD_CODE_INTERNAL, "cannot make a pipe");
    return false;
  }
  RD_AUTO_CLOSE int report = report_fds[0];
  RD_AUTO_CLOSE int report_theirs = report_fds[1];
  rd_pipe_grow(ours);
  pid_t pid = fork();
  if (pid == 0) become(command, produces ? 1 : 0, theirs, report_theirs);
  if (pid < 0) {
    rd_error_set_errno(error, RD_CODE_INTERNAL, "cannot start %s", command[0]);
    return false;
  }
  setpgid(pid, pid);
  rd_cleanup_fd(&report_theirs);
  *child = (struct rd_child){.pid = pid, .pipe_fd = rd_take_fd(&ours)};
  return hear_of_exec(child, report, command[0], error);
}

bool rd_child_has_exited(struct rd_child *child) {
  if (!child->exited && child->pid > 0) child->exited = waitpid(child->pid, &child->wait_status, WNOHANG) == child->pid;
  return child->exited;
}

bool rd_child_wait(struct rd_child *child, int most_ms) {
  if (child->pid <= 0 || child->exited) return true;
  RD_AUTO_CLOSE int pid_fd = (int)syscall(SYS_pidfd_open, child->pid, 0);
  if (pid_fd >= 0) rd_wait_fd(pid_fd, POLLIN, most_ms);
  return rd_child_has_exited(child);
}

void rd_child_signal(const struct rd_child *child, int signal) {
  if (child->pid > 0) kill(-child->pid, signal);
}

int rd_child_status(const struct rd_child *child) {
  if (WIFSIGNALED(child->wait_status)) return 128 + WTERMSIG(child->wait_status);
  return WEXITSTATUS(child->wait_status);
}

// Only calls that are safe between fork and exec.
static _Noreturn void become(char *const *command, int stdio_fd, int pipe_fd, int report_fd) {
  sigset_t none;
  sigemptyset(&none);
  setpgid(0, 0);
  signal(SIGPIPE, SIG_DFL);
  sigprocmask(SIG_SETMASK, &none, NULL);
  if (dup2(pipe_fd, stdio_fd) >= 0) execvp(command[0], command);
  int number = errno;
  rd_write_all(report_fd, &number, sizeof number);
  _exit(127);
}

// The report's pipe closes on exec; before that it carries an errno.
static bool hear_of_exec(struct rd_child *child, int report_fd, const char *name, struct rd_error *error) {
  int number;
  ssize_t got = rd_read_some(report_fd, &number, sizeof number);
  if (got != (ssize_t)sizeof number) return true;
  rd_child_wait(child, -1);
  errno = number;
  rd_error_set_errno(error, RD_CODE_USAGE, "cannot start %s", name);
  return false;
}
