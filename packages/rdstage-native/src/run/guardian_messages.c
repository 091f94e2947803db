// SPDX-License-Identifier: Apache-2.0
#include "run/guardian_messages.h"

#include "base/cleanup.h"

#include <errno.h>
#include <string.h>
#include <sys/socket.h>

// Space for one descriptor, aligned as the kernel requires.
union fd_space {
  struct cmsghdr align;
  char bytes[CMSG_SPACE(sizeof(int))];
};

static bool send_message(int guard_fd, struct rd_guardian_message message, int fd, struct rd_error *error);
static int descriptor_of(struct msghdr *header);

bool rd_guardian_hold(int guard_fd, uint32_t hold, int fd, struct rd_error *error) {
  return send_message(guard_fd, (struct rd_guardian_message){RD_GUARDIAN_HOLD, hold}, fd, error);
}

bool rd_guardian_release(int guard_fd, uint32_t hold, struct rd_error *error) {
  return send_message(guard_fd, (struct rd_guardian_message){RD_GUARDIAN_RELEASE, hold}, -1, error);
}

bool rd_guardian_finished(int guard_fd, struct rd_error *error) {
  return send_message(guard_fd, (struct rd_guardian_message){RD_GUARDIAN_FINISHED, 0}, -1, error);
}

bool rd_guardian_alive(int guard_fd, uint32_t within_ms, struct rd_error *error) {
  return send_message(guard_fd, (struct rd_guardian_message){RD_GUARDIAN_ALIVE, within_ms}, -1, error);
}

bool rd_guardian_receive(int guard_fd, struct rd_guardian_message *message, int *fd) {
  union fd_space space;
  struct iovec part = {.iov_base = message, .iov_len = sizeof *message};
  struct msghdr header = {
      .msg_iov = &part, .msg_iovlen = 1, .msg_control = &space, .msg_controllen = sizeof space.bytes};
  ssize_t got;
  do got = recvmsg(guard_fd, &header, MSG_CMSG_CLOEXEC);
  while (got < 0 && errno == EINTR);
  *fd = got < 0 ? -1 : descriptor_of(&header);
  if (got == (ssize_t)sizeof *message) return true;
  rd_cleanup_fd(fd);
  return false;
}

static bool send_message(int guard_fd, struct rd_guardian_message message, int fd, struct rd_error *error) {
  union fd_space space;
  memset(&space, 0, sizeof space);
  struct iovec part = {.iov_base = &message, .iov_len = sizeof message};
  struct msghdr header = {.msg_iov = &part, .msg_iovlen = 1};
  if (fd >= 0) {
    header.msg_control = &space;
    header.msg_controllen = sizeof space.bytes;
    struct cmsghdr *control = CMSG_FIRSTHDR(&header);
    *control = (struct cmsghdr){.cmsg_len = CMSG_LEN(sizeof fd), .cmsg_level = SOL_SOCKET, .cmsg_type = SCM_RIGHTS};
    memcpy(CMSG_DATA(control), &fd, sizeof fd);
  }
  ssize_t sent;
  do sent = sendmsg(guard_fd, &header, MSG_NOSIGNAL | MSG_DONTWAIT);
  while (sent < 0 && errno == EINTR);
  if (sent == (ssize_t)sizeof message) return true;
  rd_error_set_errno(error, RD_CODE_INTERNAL, "cannot send to the agent's guardian");
  return false;
}

static int descriptor_of(struct msghdr *header) {
  const struct cmsghdr *control = CMSG_FIRSTHDR(header);
  if (control == NULL || control->cmsg_level != SOL_SOCKET || control->cmsg_type != SCM_RIGHTS) return -1;
  int fd;
  memcpy(&fd, CMSG_DATA(control), sizeof fd);
  return fd;
}
