// SPDX-License-Identifier: Apache-2.0
#include "write/stop_signals.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <unistd.h>

static int input_fd, empty_fd;
static volatile sig_atomic_t has_come;

static void end_input(int signal);

void rd_stop_signals_catch(int in_fd) {
  struct sigaction action = {.sa_handler = end_input}; // a read that waits is interrupted
  input_fd = in_fd;
  empty_fd = open("/dev/null", O_RDONLY | O_CLOEXEC);
  sigaction(SIGTERM, &action, NULL);
  sigaction(SIGINT, &action, NULL);
  signal(SIGXFSZ, SIG_IGN); // a file that is too large is an error of its write
}

bool rd_stop_signals_have_come(void) {
  return has_come != 0;
}

static void end_input(int signal) {
  int before = errno;
  (void)signal;
  has_come = 1;
  dup2(empty_fd, input_fd);
  errno = before;
}
