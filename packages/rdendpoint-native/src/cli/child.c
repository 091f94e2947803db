// SPDX-License-Identifier: Apache-2.0
#include "cli/child.h"

#include "base/cleanup.h"
#include "base/io.h"

#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <sys/syscall.h>
#include <sys/wait.h>

#define FIRST_FD 3 // of those that follow its standard streams

enum { READ, WRITE };

// Descriptors of the process that will become the command.
struct descriptors {
  int stdio_fd, pipe_fd, report_fd;
  const int *fds;
  size_t fd_count;
};

static bool make_pipes(int data[2], int go[2], int report[2], struct rd_error *error);
static void close_pipe(int fds[2]);
static _Noreturn void exec_command(char *const *command, const struct descriptors *descriptors, const int go[2]);
static bool place(const struct descriptors *descriptors, int *report_fd);
static bool await_exec(struct rd_child *child, struct rd_error *error);

bool rd_child_fork(struct rd_child *child, char *const *command, bool produces, const int *fds, size_t fd_count,
                   struct rd_error *error) {
  int data[2] = {-1, -1}, go[2] = {-1, -1}, report[2] = {-1, -1};
  pid_t pid = -1;
  int ours = produces ? READ : WRITE;
  if (make_pipes(data, go, report, error)) {
    rd_pipe_grow(data[ours]);
    pid = fork();
    struct descriptors descriptors = {produces ? STDOUT_FILENO : STDIN_FILENO, data[!ours], report[WRITE], fds,
                                      fd_count};
    if (pid == 0) exec_command(command, &descriptors, go);
    if (pid < 0) rd_error_set_errno(error, RD_CODE_INTERNAL, "cannot start %s", command[0]);
  }
  if (pid > 0) {
    setpgid(pid, pid);
    *child = (struct rd_child){.command = command,
                               .pid = pid,
                               .pipe_fd = rd_take_fd(&data[ours]),
                               .go_fd = rd_take_fd(&go[WRITE]),
                               .report_fd = rd_take_fd(&report[READ])};
  }
  close_pipe(data);
  close_pipe(go);
  close_pipe(report);
  return pid > 0;
}

bool rd_child_run(struct rd_child *child, struct rd_error *error) {
  rd_write_all(child->go_fd, "", 1);
  rd_cleanup_fd(&child->go_fd);
  return await_exec(child, error);
}

void rd_child_forget(struct rd_child *child) {
  if (child->go_fd < 0) return;
  rd_cleanup_fd(&child->go_fd);
  rd_cleanup_fd(&child->pipe_fd);
  rd_cleanup_fd(&child->report_fd);
  while (waitpid(child->pid, NULL, 0) < 0 && errno == EINTR) continue;
  *child = RD_NO_CHILD;
}

bool rd_child_has_exited(struct rd_child *child) {
  siginfo_t info = {0};
  if (child->exited || child->pid <= 0) return child->exited;
  if (waitid(P_PID, (id_t)child->pid, &info, WEXITED | WNOHANG | WNOWAIT) < 0 || info.si_pid != child->pid)
    return false;
  child->exited = true;
  child->status = info.si_code == CLD_EXITED ? info.si_status : 128 + info.si_status;
  return true;
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
  return child->status;
}

static bool make_pipes(int data[2], int go[2], int report[2], struct rd_error *error) {
  if (pipe2(data, O_CLOEXEC) == 0 && pipe2(go, O_CLOEXEC) == 0 && pipe2(report, O_CLOEXEC) == 0) return true;
  rd_error_set_errno(error, RD_CODE_INTERNAL, "cannot create a pipe");
  return false;
}

static void close_pipe(int fds[2]) {
  rd_cleanup_fd(&fds[READ]);
  rd_cleanup_fd(&fds[WRITE]);
}

// Only makes calls that are safe between fork and exec.
static _Noreturn void exec_command(char *const *command, const struct descriptors *descriptors, const int go[2]) {
  int report_fd = descriptors->report_fd;
  sigset_t none;
  char byte;
  sigemptyset(&none);
  setpgid(0, 0);
  signal(SIGPIPE, SIG_DFL);
  sigprocmask(SIG_SETMASK, &none, NULL);
  close(go[WRITE]);
  // End of file without a byte: there will be no connection, or the parent process is gone.
  if (rd_read_some(go[READ], &byte, 1) != 1) _exit(127);
  if (dup2(descriptors->pipe_fd, descriptors->stdio_fd) >= 0 && place(descriptors, &report_fd))
    execvp(command[0], command);
  int number = errno;
  rd_write_all(report_fd, &number, sizeof number);
  _exit(127);
}

// Duplicates them to higher numbers first: another descriptor may have the number that they are to get.
static bool place(const struct descriptors *descriptors, int *report_fd) {
  int moved[RD_CHILD_FDS_MAX], above = FIRST_FD + (int)descriptors->fd_count;
  *report_fd = fcntl(*report_fd, F_DUPFD_CLOEXEC, above);
  for (size_t i = 0; i < descriptors->fd_count; i++) moved[i] = fcntl(descriptors->fds[i], F_DUPFD_CLOEXEC, above);
  for (size_t i = 0; i < descriptors->fd_count; i++)
    if (moved[i] < 0 || dup2(moved[i], FIRST_FD + (int)i) < 0) return false;
  return *report_fd >= 0;
}

// The pipe closes on a successful exec; otherwise it carries the errno.
static bool await_exec(struct rd_child *child, struct rd_error *error) {
  int number;
  ssize_t got = rd_read_some(child->report_fd, &number, sizeof number);
  rd_cleanup_fd(&child->report_fd);
  if (got != (ssize_t)sizeof number) return true;
  rd_child_wait(child, -1);
  errno = number;
  rd_error_set_errno(error, RD_CODE_USAGE, "cannot start %s", child->command[0]);
  return false;
}
