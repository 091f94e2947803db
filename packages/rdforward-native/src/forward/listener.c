// SPDX-License-Identifier: Apache-2.0
#include "forward/listener.h"

#include "base/address.h"
#include "base/cleanup.h"
#include "base/listening.h"

#include <fcntl.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <stdio.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>

#define TRIES 16 // to find a port that is free in both families

static bool open_path(struct rd_forward_listener *listener, const struct rd_place *place, struct rd_error *error);
static bool open_port(struct rd_forward_listener *listener, const struct rd_place *place, struct rd_error *error);
static size_t find_addresses(const struct rd_place *place, struct rd_socket_address *addresses, struct rd_error *error);
static bool open_all(struct rd_forward_listener *listener, struct rd_socket_address *addresses, size_t count,
                     const struct rd_place *place);
static int open_socket(const struct rd_socket_address *address);
static void add_socket(struct rd_forward_listener *listener, int fd);
static void close_sockets(struct rd_forward_listener *listener);

bool rd_forward_listener_open(struct rd_forward_listener *listener, const struct rd_place *place, uint16_t index,
                              struct rd_error *error) {
  *listener = (struct rd_forward_listener){.index = index};
  return rd_place_is_path(place) ? open_path(listener, place, error) : open_port(listener, place, error);
}

// A file that replaced the socket belongs to another program, and is not removed.
void rd_forward_listener_close(struct rd_forward_listener *listener) {
  struct stat status;
  if (listener == NULL) return;
  close_sockets(listener);
  if (listener->path[0] != '\0' && lstat(listener->path, &status) == 0 && status.st_ino == listener->inode &&
      status.st_dev == listener->device)
    unlink(listener->path);
  listener->path[0] = '\0';
}

enum rd_outcome rd_forward_listener_accept(const struct rd_forward_listener_socket *socket, int *fd,
                                           char peer[RD_PEER_TEXT_BYTES]) {
  struct rd_socket_address address = {.bytes = sizeof address.address};
  *fd = accept4(socket->fd, (struct sockaddr *)&address.address, &address.bytes, SOCK_NONBLOCK | SOCK_CLOEXEC);
  if (*fd >= 0) {
    rd_connection_tune(*fd);
    rd_socket_address_text(&address, peer);
    return RD_OUTCOME_DONE;
  }
  bool is_short = errno == EMFILE || errno == ENFILE || errno == ENOBUFS || errno == ENOMEM;
  return is_short ? RD_OUTCOME_FAILED : RD_OUTCOME_AGAIN;
}

void rd_connection_tune(int fd) {
  const int on = 1;
  setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &on, sizeof on); // fails for a local socket, which has no delay
  setsockopt(fd, SOL_SOCKET, SO_KEEPALIVE, &on, sizeof on);
}

static bool open_path(struct rd_forward_listener *listener, const struct rd_place *place, struct rd_error *error) {
  const char *path = place->address;
  struct rd_socket_address address;
  struct stat status;
  if (rd_socket_address_find(path, 0, &address, 1, error) == 0) return false;
  if (place->replaces_socket) unlink(path); // a failure shows when the address is bound
  mode_t before = umask(0177);
  int fd = open_socket(&address);
  umask(before);
  if (fd < 0) {
    rd_error_set_errno(error, RD_CODE_CANNOT_CONNECT, "cannot listen on %.300s", path);
    return false;
  }
  add_socket(listener, fd);
  if (lstat(path, &status) < 0) return true;
  snprintf(listener->path, sizeof listener->path, "%s", path);
  listener->device = status.st_dev;
  listener->inode = status.st_ino;
  return true;
}

static bool open_port(struct rd_forward_listener *listener, const struct rd_place *place, struct rd_error *error) {
  struct rd_socket_address addresses[RD_FORWARD_LISTENER_SOCKETS];
  char text[RD_PLACE_TEXT_BYTES];
  size_t count = find_addresses(place, addresses, error);
  if (count == 0) return false;
  for (int tried = 0; tried < (place->port == 0 ? TRIES : 1); tried++)
    if (open_all(listener, addresses, count, place)) return true;
  rd_place_text(place, text);
  rd_error_set_errno(error, RD_CODE_CANNOT_CONNECT, "cannot listen on %s", text);
  return false;
}

static size_t find_addresses(const struct rd_place *place, struct rd_socket_address *addresses,
                             struct rd_error *error) {
  bool is_own = place->address[0] == '\0' || strcmp(place->address, "localhost") == 0;
  bool is_all = strcmp(place->address, "*") == 0;
  if (!is_own && !is_all)
    return rd_socket_address_find(place->address, place->port, addresses, RD_FORWARD_LISTENER_SOCKETS, error);
  return rd_socket_address_find(is_own ? "127.0.0.1" : "0.0.0.0", place->port, addresses, 1, error) +
         rd_socket_address_find(is_own ? "::1" : "::", place->port, addresses + 1, 1, error);
}

// A host may lack an address family. A port that is in use in one family counts as in use.
static bool open_all(struct rd_forward_listener *listener, struct rd_socket_address *addresses, size_t count,
                     const struct rd_place *place) {
  listener->port = place->port;
  for (size_t i = 0; i < count; i++) {
    rd_socket_address_set_port(&addresses[i], listener->port);
    int fd = open_socket(&addresses[i]);
    if (fd < 0 && (errno == EAFNOSUPPORT || errno == EADDRNOTAVAIL) && (i + 1 < count || listener->socket_count > 0))
      continue;
    if (fd < 0) {
      close_sockets(listener);
      return false;
    }
    add_socket(listener, fd);
    if (listener->port == 0) listener->port = rd_listening_port(fd);
  }
  return true;
}

static int open_socket(const struct rd_socket_address *address) {
  const int on = 1;
  int family = address->address.ss_family;
  RD_AUTO_CLOSE int fd = socket(family, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
  if (fd < 0) return -1;
  if (family != AF_UNIX) setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &on, sizeof on);
  if (family == AF_INET6) setsockopt(fd, IPPROTO_IPV6, IPV6_V6ONLY, &on, sizeof on);
  if (bind(fd, (const struct sockaddr *)&address->address, address->bytes) < 0) return -1;
  return listen(fd, SOMAXCONN) < 0 ? -1 : rd_take_fd(&fd);
}

static void add_socket(struct rd_forward_listener *listener, int fd) {
  listener->sockets[listener->socket_count++] =
      (struct rd_forward_listener_socket){.kind = RD_WATCHED_LISTENER, .listener = listener, .fd = fd};
}

static void close_sockets(struct rd_forward_listener *listener) {
  while (listener->socket_count > 0) rd_cleanup_fd(&listener->sockets[--listener->socket_count].fd);
}
