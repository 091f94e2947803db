// SPDX-License-Identifier: Apache-2.0
#include "forward/dial.h"

#include "base/cleanup.h"
#include "forward/listener.h"

#include <poll.h>
#include <sys/un.h>

static int begin(const struct rd_socket_address *address);

enum rd_outcome rd_dial_next(struct rd_dial *dial, int *fd, struct rd_error *error) {
  while (dial->next < dial->count) {
    const struct rd_socket_address *address = &dial->addresses[dial->next];
    *fd = begin(address);
    if (*fd < 0 && errno == EAGAIN && address->address.ss_family == AF_UNIX) return RD_OUTCOME_AGAIN;
    dial->next++;
    if (*fd >= 0) return RD_OUTCOME_DONE;
    rd_error_set_errno(error, RD_CODE_CANNOT_CONNECT, "connect failed");
  }
  return RD_OUTCOME_FAILED;
}

enum rd_outcome rd_dial_finish(int fd, struct rd_error *error) {
  struct pollfd ready = {.fd = fd, .events = POLLOUT};
  int number = 0;
  socklen_t bytes = sizeof number;
  if (poll(&ready, 1, 0) == 0) return RD_OUTCOME_AGAIN;
  if (getsockopt(fd, SOL_SOCKET, SO_ERROR, &number, &bytes) < 0) number = errno;
  if (number == 0) return RD_OUTCOME_DONE;
  errno = number;
  rd_error_set_errno(error, RD_CODE_CANNOT_CONNECT, "connect failed");
  return RD_OUTCOME_FAILED;
}

static int begin(const struct rd_socket_address *address) {
  RD_AUTO_CLOSE int fd = socket(address->address.ss_family, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
  if (fd < 0) return -1;
  rd_connection_tune(fd);
  if (connect(fd, (const struct sockaddr *)&address->address, address->bytes) < 0 && errno != EINPROGRESS) return -1;
  return rd_take_fd(&fd);
}
