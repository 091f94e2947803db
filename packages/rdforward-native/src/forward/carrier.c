// SPDX-License-Identifier: Apache-2.0
#include "forward/carrier.h"

#include "base/cleanup.h"
#include "base/io.h"

#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <sys/prctl.h>
#include <sys/signalfd.h>
#include <sys/syscall.h>
#include <sys/wait.h>

#define TERM_MS 15000 // by then rdpipe has ended on its own, or never will
#define KILL_MS 15000

static _Noreturn void become(char *const *command, int in_fd, int out_fd, pid_t parent);
static bool await(int pid_fd, int signal_fd, int most_ms);

bool rd_carrier_start(struct rd_carrier *carrier, char *const *command, struct rd_error *error) {
  int to[2] = {-1, -1}, from[2] = {-1, -1};
  pid_t parent = getpid(), pid = -1;
  *carrier = RD_NO_CARRIER;
  if (pipe2(to, O_CLOEXEC) == 0 && pipe2(from, O_CLOEXEC) == 0) {
    pid = fork();
    if (pid == 0) become(command, to[0], from[1], parent);
  }
  rd_cleanup_fd(&to[0]);
  rd_cleanup_fd(&from[1]);
  if (pid < 0 || !rd_set_nonblocking(to[1]) || !rd_set_nonblocking(from[0])) {
    rd_error_set_errno(error, RD_CODE_INTERNAL, "cannot start %.300s", command[0]);
    rd_cleanup_fd(&to[1]);
    rd_cleanup_fd(&from[0]);
    return false;
  }
  *carrier = (struct rd_carrier){.pid = pid, .in_fd = from[0], .out_fd = to[1]};
  return true;
}

int rd_carrier_end(struct rd_carrier *carrier, int signal_fd, bool is_now) {
  int status = 0;
  if (carrier->pid <= 0) return 0;
  rd_cleanup_fd(&carrier->out_fd);
  rd_cleanup_fd(&carrier->in_fd);
  RD_AUTO_CLOSE int pid_fd = (int)syscall(SYS_pidfd_open, carrier->pid, 0);
  if ((is_now || !await(pid_fd, signal_fd, TERM_MS)) && kill(carrier->pid, SIGTERM) == 0 &&
      !await(pid_fd, signal_fd, KILL_MS))
    kill(carrier->pid, SIGKILL);
  while (waitpid(carrier->pid, &status, 0) < 0)
    if (errno != EINTR) return 0;
  carrier->pid = -1;
  return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
}

// This process handles the signals of a terminal, and then ends the command.
static _Noreturn void become(char *const *command, int in_fd, int out_fd, pid_t parent) {
  sigset_t none;
  sigemptyset(&none);
  signal(SIGPIPE, SIG_DFL);
  signal(SIGINT, SIG_IGN);
  signal(SIGQUIT, SIG_IGN);
  signal(SIGHUP, SIG_IGN);
  prctl(PR_SET_PDEATHSIG, SIGTERM);
  if (getppid() != parent) _exit(127);
  sigprocmask(SIG_SETMASK, &none, NULL);
  if (dup2(in_fd, STDIN_FILENO) >= 0 && dup2(out_fd, STDOUT_FILENO) >= 0) execvp(command[0], command);
  dprintf(STDERR_FILENO, "cannot start %s: %s\n", command[0], strerror(errno));
  _exit(127);
}

// Returns true if the process has ended, and false after the time limit or a signal, which is consumed.
static bool await(int pid_fd, int signal_fd, int most_ms) {
  struct pollfd fds[] = {{.fd = pid_fd, .events = POLLIN}, {.fd = signal_fd, .events = POLLIN}};
  int64_t until = rd_now_ms() + most_ms;
  struct signalfd_siginfo signal;
  while (poll(fds, 2, (int)(until - rd_now_ms())) < 0 && errno == EINTR && rd_now_ms() < until) continue;
  if (fds[0].revents != 0) return true;
  if (fds[1].revents != 0) rd_read_some(signal_fd, &signal, sizeof signal);
  return false;
}
