// SPDX-License-Identifier: Apache-2.0
#include "process/die_with_parent.h"

#include "base/cleanup.h"
#include "base/io.h"
#include "base/spawn.h"
#include "process/no_delay.h"
#include "process/orphans.h"
#include "process/process_tree.h"

#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <sys/signalfd.h>
#include <sys/wait.h>
#include <unistd.h>

#define END_WITHIN_MS 8000
#define NO_DELAY "no delay\n"

static pid_t start(char **command, struct rd_error *error);
static void wait_for_end(pid_t pid, int signal_fd);
static void end_command(pid_t pid, int signal_fd);
static bool input_has_ended(void);
static bool end_was_signalled(int signal_fd);

bool rd_die_with_parent_run(char **command, int *status, struct rd_error *error) {
  if (!rd_orphans_adopt(error)) return false;
  RD_AUTO_CLOSE int signal_fd = rd_spawn_signals(error);
  if (signal_fd < 0) return false;
  pid_t pid = start(command, error);
  if (pid < 0) return false;
  wait_for_end(pid, signal_fd);
  end_command(pid, signal_fd);
  int ended;
  if (waitpid(pid, &ended, WNOHANG) != pid) ended = SIGKILL; // it cannot be killed, and is not waited for
  rd_process_tree_end(getpid(), END_WITHIN_MS);              // processes that the command left behind
  *status = WIFEXITED(ended) ? WEXITSTATUS(ended) : 128 + WTERMSIG(ended);
  return true;
}

static pid_t start(char **command, struct rd_error *error) {
  RD_AUTO_CLOSE int null_fd = rd_spawn_null_device(error);
  if (null_fd < 0) return -1;
  struct rd_spawning spawning = {
      .file = command[0],
      .arguments = command,
      .fds = {null_fd, STDOUT_FILENO, STDERR_FILENO},
      .fd_count = 3,
      .group = RD_SPAWN_GROUP_SESSION,
  };
  return rd_spawn(&spawning, error);
}

static void wait_for_end(pid_t pid, int signal_fd) {
  RD_AUTO(rd_no_delay_end) struct rd_no_delay no_delay;
  rd_no_delay_begin(&no_delay, pid);
  while (!rd_spawn_is_dead(pid)) {
    struct pollfd polled[] = {{.fd = STDIN_FILENO, .events = POLLIN}, {.fd = signal_fd, .events = POLLIN}};
    int ready = poll(polled, 2, rd_no_delay_timeout_ms(&no_delay));
    if (ready < 0 && errno != EINTR) return;
    if (ready == 0 && rd_no_delay_step(&no_delay)) rd_write_all(STDOUT_FILENO, NO_DELAY, sizeof NO_DELAY - 1);
    if (ready <= 0) continue;
    if (polled[0].revents && input_has_ended()) return;
    if (polled[0].revents) rd_no_delay_logged_in(&no_delay);
    if (polled[1].revents && end_was_signalled(signal_fd)) return;
  }
}

// Waits for the death of the command before searching /proc: few commands leave other processes running.
static void end_command(pid_t pid, int signal_fd) {
  struct pollfd polled = {.fd = signal_fd, .events = POLLIN};
  int64_t until_ms = rd_now_ms() + END_WITHIN_MS;
  kill(pid, SIGKILL);
  for (int64_t left_ms; !rd_spawn_is_dead(pid) && (left_ms = until_ms - rd_now_ms()) > 0;) {
    poll(&polled, 1, (int)left_ms);
    end_was_signalled(signal_fd);
  }
}

// Any byte of the input says that the command, an ssh, has logged in.
static bool input_has_ended(void) {
  char dropped[512];
  ssize_t got = rd_read_some(STDIN_FILENO, dropped, sizeof dropped);
  return got == 0 || (got < 0 && errno != EAGAIN);
}

static bool end_was_signalled(int signal_fd) {
  struct signalfd_siginfo info;
  while (read(signal_fd, &info, sizeof info) == (ssize_t)sizeof info)
    if (info.ssi_signo != SIGCHLD) return true;
  return false;
}
