// SPDX-License-Identifier: Apache-2.0
#include "consumer.h"

#include "cleanup.h"
#include "io.h"

#include <poll.h>
#include <signal.h>
#include <sys/syscall.h>

struct rd_consumer rd_consumer_of(pid_t pid) {
  return (struct rd_consumer){.pid = pid, .pid_fd = (int)syscall(SYS_pidfd_open, pid, 0)};
}

void rd_consumer_kill(const struct rd_consumer *consumer, int most_ms) {
  if (consumer->pid <= 1) return;
  if (consumer->pid_fd >= 0 && syscall(SYS_pidfd_send_signal, consumer->pid_fd, 0, NULL, 0) < 0 && errno == ESRCH)
    return;
  if (kill(-consumer->pid, SIGKILL) < 0) kill(consumer->pid, SIGKILL);
  if (consumer->pid_fd >= 0) rd_wait_fd(consumer->pid_fd, POLLIN, most_ms);
}

void rd_consumer_forget(struct rd_consumer *consumer) {
  rd_cleanup_fd(&consumer->pid_fd);
  consumer->pid = 0;
}
