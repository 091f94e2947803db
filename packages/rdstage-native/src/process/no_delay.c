// SPDX-License-Identifier: Apache-2.0
#include "process/no_delay.h"

#include "base/cleanup.h"

#include <errno.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <stdbool.h>
#include <stdio.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <unistd.h>

// There is no event for a connection of another process, nor for what it has read: steps are by time.
#define STEP_MS 4
#define SEARCHES_LIMIT 125
#define STEPS_LIMIT 750 // a login without questions takes less
#define STEPS_AFTER_LOGIN 50

// ssh opens its connection before it has many other files.
#define LAST_FD 9

static bool tracing_is_restricted(void);
static bool search(struct rd_no_delay *self);
static bool send_at_once(int fd);

void rd_no_delay_begin(struct rd_no_delay *self, pid_t pid) {
  *self = (struct rd_no_delay){.process_fd = -1, .socket_fd = -1};
  if (!tracing_is_restricted()) self->process_fd = (int)syscall(SYS_pidfd_open, pid, 0);
}

bool rd_no_delay_step(struct rd_no_delay *self) {
  bool has_found = self->process_fd >= 0 && search(self);
  if (self->socket_fd >= 0) setsockopt(self->socket_fd, IPPROTO_TCP, TCP_QUICKACK, &(int){1}, sizeof(int));
  self->steps++;
  if (self->steps >= (self->process_fd >= 0 ? SEARCHES_LIMIT : STEPS_LIMIT)) rd_no_delay_end(self);
  return has_found;
}

void rd_no_delay_logged_in(struct rd_no_delay *self) {
  if (self->steps < STEPS_LIMIT - STEPS_AFTER_LOGIN) self->steps = STEPS_LIMIT - STEPS_AFTER_LOGIN;
}

int rd_no_delay_timeout_ms(const struct rd_no_delay *self) {
  return self->process_fd >= 0 || self->socket_fd >= 0 ? STEP_MS : -1;
}

void rd_no_delay_end(struct rd_no_delay *self) {
  if (self == NULL) return;
  rd_cleanup_fd(&self->process_fd);
  rd_cleanup_fd(&self->socket_fd);
}

// With other settings of Yama the kernel refuses, and writes that to its log.
static bool tracing_is_restricted(void) {
  FILE *setting = fopen("/proc/sys/kernel/yama/ptrace_scope", "re");
  if (setting == NULL) return false;
  int scope = getc(setting);
  fclose(setting);
  return scope != '0' && scope != '1';
}

static bool search(struct rd_no_delay *self) {
  for (int fd = STDERR_FILENO + 1; fd <= LAST_FD; fd++) {
    RD_AUTO_CLOSE int copy = (int)syscall(SYS_pidfd_getfd, self->process_fd, fd, 0);
    if (copy < 0 && errno != EBADF) { // not permitted, or the child is dead
      rd_no_delay_end(self);
      return false;
    }
    if (copy < 0 || !send_at_once(copy)) continue;
    self->socket_fd = rd_take_fd(&copy);
    rd_cleanup_fd(&self->process_fd);
    return true;
  }
  return false;
}

// Returns false if `fd` is not a TCP connection: other sockets do not have the option, and a listener has no peer.
static bool send_at_once(int fd) {
  struct sockaddr_storage peer;
  return !getpeername(fd, (struct sockaddr *)&peer, &(socklen_t){sizeof peer}) &&
         !setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &(int){1}, sizeof(int));
}
