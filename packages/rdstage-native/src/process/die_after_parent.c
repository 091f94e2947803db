// SPDX-License-Identifier: Apache-2.0
#include "process/die_after_parent.h"

#include "base/cleanup.h"
#include "base/io.h"
#include "base/spawn.h"

#include <errno.h>
#include <limits.h>
#include <poll.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/prctl.h>
#include <sys/signalfd.h>
#include <sys/wait.h>
#include <unistd.h>

static bool take_number(const char **text, long *number);
static pid_t start(char **command, struct rd_error *error);
static void die_with_watcher(const void *unused);
static bool release_streams(struct rd_error *error);
static void wait_for_end(const struct rd_die_after_parent *settings, pid_t pid, int signal_fd);
static void pass_signals(pid_t pid, int signal_fd);
static void end_by(int signal_number);

bool rd_die_after_parent_parse(const char *text, struct rd_die_after_parent *settings) {
  long parent, grace_ms;
  if (!take_number(&text, &parent) || *text++ != ',' || !take_number(&text, &grace_ms) || *text != '\0') return false;
  *settings = (struct rd_die_after_parent){.parent = (pid_t)parent, .grace_ms = grace_ms};
  return parent > 0;
}

bool rd_die_after_parent_run(const struct rd_die_after_parent *settings, char **command, int *status,
                             struct rd_error *error) {
  setpgid(0, 0); // a session leader has its own group already
  RD_AUTO_CLOSE int signal_fd = rd_spawn_signals(error);
  if (signal_fd < 0) return false;
  prctl(PR_SET_PDEATHSIG, SIGHUP);
  pid_t pid = start(command, error);
  if (pid < 0 || !release_streams(error)) return false;
  wait_for_end(settings, pid, signal_fd);
  int ended = 0;
  waitpid(pid, &ended, 0);
  if (WIFSIGNALED(ended)) end_by(WTERMSIG(ended));
  *status = WIFEXITED(ended) ? WEXITSTATUS(ended) : 128 + WTERMSIG(ended);
  return true;
}

// Advances *text past the digits.
static bool take_number(const char **text, long *number) {
  char *end;
  if (**text < '0' || **text > '9') return false;
  errno = 0;
  *number = strtol(*text, &end, 10);
  *text = end;
  return errno == 0 && *number <= INT_MAX;
}

static pid_t start(char **command, struct rd_error *error) {
  struct rd_spawning spawning = {
      .file = command[0],
      .arguments = command,
      .fds = {STDIN_FILENO, STDOUT_FILENO, STDERR_FILENO},
      .fd_count = 3,
      .group = RD_SPAWN_GROUP_OURS,
      .before_exec = die_with_watcher,
  };
  return rd_spawn(&spawning, error);
}

static void die_with_watcher(const void *unused) {
  (void)unused;
  prctl(PR_SET_PDEATHSIG, SIGTERM);
}

// Only the command may keep the streams open: their other ends wait for its end of file.
static bool release_streams(struct rd_error *error) {
  RD_AUTO_CLOSE int null_fd = rd_spawn_null_device(error);
  if (null_fd < 0) return false;
  for (int fd = STDIN_FILENO; fd <= STDERR_FILENO; fd++) dup2(null_fd, fd);
  return true;
}

static void wait_for_end(const struct rd_die_after_parent *settings, pid_t pid, int signal_fd) {
  struct pollfd polled = {.fd = signal_fd, .events = POLLIN};
  int64_t until_ms = 0; // 0: the parent is alive
  bool was_asked = false;
  while (!rd_spawn_is_dead(pid)) {
    if (until_ms == 0 && getppid() != settings->parent) until_ms = rd_now_ms() + settings->grace_ms;
    int64_t left_ms = until_ms == 0 ? -1 : until_ms - rd_now_ms();
    if (until_ms > 0 && left_ms <= 0) {
      if (was_asked) kill(0, SIGKILL);
      kill(pid, SIGTERM);
      was_asked = true;
      left_ms = settings->grace_ms;
      until_ms = rd_now_ms() + left_ms;
    }
    poll(&polled, 1, (int)left_ms);
    pass_signals(pid, signal_fd);
  }
}

// SIGHUP says that the parent has ended.
static void pass_signals(pid_t pid, int signal_fd) {
  struct signalfd_siginfo info;
  while (read(signal_fd, &info, sizeof info) == (ssize_t)sizeof info)
    if (info.ssi_signo == SIGTERM || info.ssi_signo == SIGINT) kill(pid, SIGTERM);
}

// rdpipe sees the signal, as if it had started the command itself.
static void end_by(int signal_number) {
  sigset_t none;
  sigemptyset(&none);
  prctl(PR_SET_DUMPABLE, 0);
  signal(signal_number, SIG_DFL);
  sigprocmask(SIG_SETMASK, &none, NULL);
  raise(signal_number);
}
