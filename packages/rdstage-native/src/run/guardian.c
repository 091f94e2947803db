// SPDX-License-Identifier: Apache-2.0
#include "run/guardian.h"

#include "base/cleanup.h"
#include "process/process_tree.h"
#include "run/guardian_messages.h"
#include "run/held_write_ends.h"

#include <errno.h>
#include <limits.h>
#include <poll.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

#define END_WITHIN_MS 8000

static bool watch_supervisor(int guard_fd, struct rd_held_write_ends *held);
static bool is_readable_within(int guard_fd, int within_ms);
static int status_of(pid_t supervisor);

int rd_guardian_run(pid_t supervisor, int guard_fd) {
  struct rd_held_write_ends held = {0};
  bool finished = watch_supervisor(guard_fd, &held);
  if (!finished) rd_process_tree_end(getpid(), END_WITHIN_MS);
  int status = finished ? status_of(supervisor) : EXIT_FAILURE;
  rd_held_write_ends_leave_behind(&held);
  return status;
}

// Returns when the supervisor is gone or hangs: true if it had finished.
static bool watch_supervisor(int guard_fd, struct rd_held_write_ends *held) {
  struct rd_guardian_message message;
  bool finished = false;
  int within_ms = -1; // no limit
  for (int fd; is_readable_within(guard_fd, within_ms) && rd_guardian_receive(guard_fd, &message, &fd);) {
    if (message.type == RD_GUARDIAN_HOLD && fd >= 0) rd_held_write_ends_add(held, message.number, rd_take_fd(&fd));
    if (message.type == RD_GUARDIAN_RELEASE) rd_held_write_ends_drop(held, message.number);
    if (message.type == RD_GUARDIAN_FINISHED) finished = true;
    if (message.type == RD_GUARDIAN_ALIVE) within_ms = message.number < INT_MAX ? (int)message.number : INT_MAX;
    rd_cleanup_fd(&fd);
  }
  return finished;
}

// Returns true if a message has arrived or the socket was closed.
static bool is_readable_within(int guard_fd, int within_ms) {
  struct pollfd polled = {.fd = guard_fd, .events = POLLIN};
  int ready;
  do ready = poll(&polled, 1, within_ms);
  while (ready < 0 && errno == EINTR);
  return ready != 0;
}

static int status_of(pid_t supervisor) {
  int status;
  while (waitpid(supervisor, &status, 0) < 0)
    if (errno != EINTR) return EXIT_FAILURE;
  return WIFEXITED(status) ? WEXITSTATUS(status) : EXIT_FAILURE;
}
