// SPDX-License-Identifier: Apache-2.0
#include "base/listening.h"

#include "base/cleanup.h"

#include <errno.h>
#include <netinet/in.h>
#include <unistd.h>

#define BACKLOG 64

static int listen_at(const struct rd_socket_address *address);

int rd_listen(struct rd_socket_address address, uint16_t low, uint16_t high) {
  for (unsigned port = low;; port++) {
    rd_socket_address_set_port(&address, (uint16_t)port);
    int fd = listen_at(&address);
    if (fd >= 0 || (errno != EADDRINUSE && errno != EACCES) || port >= high) return fd;
  }
}

// Uses one IPv6 socket, which serves IPv4 as well; if IPv6 is off, an IPv4 socket.
int rd_listen_everywhere(uint16_t low, uint16_t high) {
  struct rd_error ignored;
  struct rd_socket_address address;
  (void)rd_socket_address_find("::", low, &address, 1, &ignored);
  int fd = rd_listen(address, low, high);
  if (fd >= 0 || (errno != EAFNOSUPPORT && errno != EADDRNOTAVAIL)) return fd;
  (void)rd_socket_address_find("0.0.0.0", low, &address, 1, &ignored);
  return rd_listen(address, low, high);
}

uint16_t rd_listening_port(int fd) {
  struct rd_socket_address bound = {.bytes = sizeof bound.address};
  if (getsockname(fd, (struct sockaddr *)&bound.address, &bound.bytes) < 0) return 0;
  if (bound.address.ss_family == AF_INET) return ntohs(((struct sockaddr_in *)(void *)&bound.address)->sin_port);
  return ntohs(((struct sockaddr_in6 *)(void *)&bound.address)->sin6_port);
}

static int listen_at(const struct rd_socket_address *address) {
  const int on = 1, off = 0;
  int family = address->address.ss_family;
  RD_AUTO_CLOSE int fd = socket(family, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
  if (fd < 0) return -1;
  if (setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &on, sizeof on) < 0) return -1;
  if (family == AF_INET6 && setsockopt(fd, IPPROTO_IPV6, IPV6_V6ONLY, &off, sizeof off) < 0) return -1;
  if (bind(fd, (const struct sockaddr *)&address->address, address->bytes) < 0 || listen(fd, BACKLOG) < 0) return -1;
  return rd_take_fd(&fd);
}
