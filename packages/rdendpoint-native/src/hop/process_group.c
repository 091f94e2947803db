// SPDX-License-Identifier: Apache-2.0
#include "hop/process_group.h"

#include "base/cleanup.h"
#include "base/io.h"

#include <poll.h>
#include <signal.h>
#include <sys/syscall.h>

#ifndef PIDFD_SIGNAL_PROCESS_GROUP
#define PIDFD_SIGNAL_PROCESS_GROUP (1u << 2)
#endif

static void kill_group(const struct rd_process_group *reader);
static bool signal_by(int pid_fd, int number, unsigned flags);

struct rd_process_group rd_process_group_of(pid_t pid) {
  int pid_fd = (int)syscall(SYS_pidfd_open, pid, 0);
  if (pid_fd < 0 && errno == ESRCH) return RD_NO_PROCESS_GROUP;
  return (struct rd_process_group){.pid = pid, .pid_fd = pid_fd};
}

void rd_process_group_kill(const struct rd_process_group *reader, int most_ms) {
  if (reader->pid <= 1) return;
  kill_group(reader);
  if (reader->pid_fd >= 0) rd_wait_fd(reader->pid_fd, POLLIN, most_ms);
}

void rd_process_group_forget(struct rd_process_group *reader) {
  rd_cleanup_fd(&reader->pid_fd);
  reader->pid = 0;
}

// If the kernel cannot signal a group by its descriptor, the leader may be reaped between the check and the kill.
static void kill_group(const struct rd_process_group *reader) {
  pid_t pid = reader->pid;
  int pid_fd = reader->pid_fd;
  if (pid_fd < 0) {
    if (kill(-pid, SIGKILL) < 0) kill(pid, SIGKILL);
    return;
  }
  if (signal_by(pid_fd, SIGKILL, PIDFD_SIGNAL_PROCESS_GROUP)) return;
  if (errno == EINVAL && signal_by(pid_fd, 0, 0) && kill(-pid, SIGKILL) == 0) return;
  signal_by(pid_fd, SIGKILL, 0); // it is not a group leader
}

static bool signal_by(int pid_fd, int number, unsigned flags) {
  return syscall(SYS_pidfd_send_signal, pid_fd, number, NULL, flags) == 0;
}
