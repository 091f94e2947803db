// SPDX-License-Identifier: Apache-2.0
#include "transport/tcp/connector.h"
#include "base/address.h"
#include "base/cleanup.h"
#include "base/listening.h"
#include "base/memory.h"

#include <arpa/inet.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <sys/epoll.h>
#include <sys/socket.h>

enum { ADDRESSES_MAX = 16 };

struct listener {
  struct rd_connector base;
  int fd;
};

struct dial {
  struct rd_connector base;
  int epoll_fd;
  int socket_fd; // of the current attempt; -1 once it was handed over
  struct rd_socket_address addresses[ADDRESSES_MAX];
  size_t count;
  size_t tried; // the current attempt is the last of these
};

static int listener_poll_fd(const struct rd_connector *connector);
static enum rd_outcome listener_accept(struct rd_connector *connector, struct rd_transport **transport,
                                       struct rd_error *error);
static void listener_destroy(struct rd_connector *connector);
static int dial_poll_fd(const struct rd_connector *connector);
static enum rd_outcome dial_accept(struct rd_connector *connector, struct rd_transport **transport,
                                   struct rd_error *error);
static void dial_destroy(struct rd_connector *connector);

static struct listener *listener_of(const struct rd_connector *connector);
static int listen_on_host(const char *bind_host, uint16_t low, uint16_t high, struct rd_error *error);
static void explain_listen(const char *host, uint16_t low, uint16_t high, struct rd_error *error);
static struct dial *dial_of(const struct rd_connector *connector);
static bool dial_next(struct dial *dial, struct rd_error *error);
static int begin_connect(const struct dial *dial, const struct rd_socket_address *socket_address);
static void explain_refusal(const struct dial *dial, struct rd_error *error);

static const struct rd_connector_ops listener_ops = {listener_poll_fd, listener_accept, listener_destroy};
static const struct rd_connector_ops dial_ops = {dial_poll_fd, dial_accept, dial_destroy};

struct rd_connector *rd_tcp_listen(const char *bind_host, uint16_t low, uint16_t high, uint16_t *port,
                                   struct rd_error *error) {
  RD_AUTO_CLOSE int fd = -1;
  if (bind_host != NULL && bind_host[0] != '\0') {
    fd = listen_on_host(bind_host, low, high, error);
    if (fd < 0 && errno != EADDRNOTAVAIL) return NULL;
  }
  if (fd < 0) {
    fd = rd_listen_everywhere(low, high);
    if (fd < 0) explain_listen("any address", low, high, error);
  }
  if (fd < 0) return NULL;
  struct listener *listener = rd_memory_new(1, sizeof *listener);
  listener->base.ops = &listener_ops;
  *port = rd_listening_port(fd);
  listener->fd = rd_take_fd(&fd);
  return &listener->base;
}

// Returns -1 with errno EADDRNOTAVAIL if the address does not belong to this machine.
static int listen_on_host(const char *bind_host, uint16_t low, uint16_t high, struct rd_error *error) {
  struct rd_socket_address socket_address;
  if (rd_socket_address_find(bind_host, low, &socket_address, 1, error) == 0) {
    errno = EINVAL;
    return -1;
  }
  int fd = rd_listen(socket_address, low, high);
  if (fd < 0) explain_listen(bind_host, low, high, error);
  return fd;
}

static void explain_listen(const char *host, uint16_t low, uint16_t high, struct rd_error *error) {
  if (high == 0)
    rd_error_set_errno(error, RD_CODE_CANNOT_CONNECT, "cannot listen on %s", host);
  else
    rd_error_set_errno(error, RD_CODE_CANNOT_CONNECT, "cannot listen on %s, ports %u to %u", host, low, high);
}

bool rd_tcp_is_here(const char *host, struct rd_error *error) {
  struct rd_socket_address socket_address;
  if (rd_socket_address_find(host, 0, &socket_address, 1, error) == 0) return false;
  RD_AUTO_CLOSE int fd = socket(socket_address.address.ss_family, SOCK_STREAM | SOCK_CLOEXEC, 0);
  bool is_here = fd >= 0 && bind(fd, (const struct sockaddr *)&socket_address.address, socket_address.bytes) == 0;
  if (!is_here) rd_error_set_errno(error, RD_CODE_CANNOT_CONNECT, "cannot listen on %s", host);
  return is_here;
}

static int listener_poll_fd(const struct rd_connector *connector) {
  return listener_of(connector)->fd;
}

static enum rd_outcome listener_accept(struct rd_connector *connector, struct rd_transport **transport,
                                       struct rd_error *error) {
  int fd = accept4(listener_of(connector)->fd, NULL, NULL, SOCK_CLOEXEC);
  if (fd >= 0) {
    *transport = rd_tcp_adopt(fd, error);
    return *transport != NULL ? RD_OUTCOME_DONE : RD_OUTCOME_FAILED;
  }
  if (errno != EMFILE && errno != ENFILE && errno != ENOMEM && errno != ENOBUFS)
    return RD_OUTCOME_AGAIN; // the client is already gone
  rd_error_set_errno(error, RD_CODE_INTERNAL, "cannot accept a connection");
  return RD_OUTCOME_FAILED;
}

static void listener_destroy(struct rd_connector *connector) {
  struct listener *listener = listener_of(connector);
  close(listener->fd);
  free(listener);
}

static struct listener *listener_of(const struct rd_connector *connector) {
  return (struct listener *)(uintptr_t)connector;
}

struct rd_connector *rd_tcp_dial(const struct rd_address *address, struct rd_error *error) {
  struct dial *dial = rd_memory_new(1, sizeof *dial);
  dial->base.ops = &dial_ops;
  dial->socket_fd = -1;
  dial->epoll_fd = epoll_create1(EPOLL_CLOEXEC);
  if (dial->epoll_fd < 0) {
    rd_error_set_errno(error, RD_CODE_INTERNAL, "cannot create an epoll set");
  } else {
    dial->count = rd_socket_address_find(address->host, address->port, dial->addresses, ADDRESSES_MAX, error);
    if (dial->count > 0 && dial_next(dial, error)) return &dial->base;
  }
  dial_destroy(&dial->base);
  return NULL;
}

// Begins with the first of the remaining addresses that does not refuse at once.
static bool dial_next(struct dial *dial, struct rd_error *error) {
  if (dial->socket_fd >= 0) close(dial->socket_fd);
  dial->socket_fd = -1;
  while (dial->tried < dial->count) {
    dial->socket_fd = begin_connect(dial, &dial->addresses[dial->tried++]);
    if (dial->socket_fd >= 0) return true;
    explain_refusal(dial, error);
  }
  return false;
}

static int begin_connect(const struct dial *dial, const struct rd_socket_address *socket_address) {
  RD_AUTO_CLOSE int fd = socket(socket_address->address.ss_family, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
  if (fd < 0) return -1;
  // An address that does not answer must not delay the next ones: two tries, 3 s.
  const int retries = 1;
  if (dial->tried < dial->count) (void)setsockopt(fd, IPPROTO_TCP, TCP_SYNCNT, &retries, sizeof retries);
  if (connect(fd, (const struct sockaddr *)&socket_address->address, socket_address->bytes) < 0 && errno != EINPROGRESS)
    return -1;
  struct epoll_event connected = {.events = EPOLLOUT};
  if (epoll_ctl(dial->epoll_fd, EPOLL_CTL_ADD, fd, &connected) < 0) return -1;
  return rd_take_fd(&fd);
}

// Sets the error for the address that was tried last, according to errno.
static void explain_refusal(const struct dial *dial, struct rd_error *error) {
  int reason = errno;
  char text[RD_SOCKET_ADDRESS_TEXT_BYTES];
  rd_socket_address_text(&dial->addresses[dial->tried - 1], text);
  errno = reason;
  rd_error_set_errno(error, RD_CODE_CANNOT_CONNECT, "%s", text);
}

static int dial_poll_fd(const struct rd_connector *connector) {
  return dial_of(connector)->epoll_fd;
}

static enum rd_outcome dial_accept(struct rd_connector *connector, struct rd_transport **transport,
                                   struct rd_error *error) {
  struct dial *dial = dial_of(connector);
  struct epoll_event event;
  int failure = 0;
  socklen_t bytes = sizeof failure;
  if (dial->socket_fd < 0 || epoll_wait(dial->epoll_fd, &event, 1, 0) <= 0) return RD_OUTCOME_AGAIN;
  if (getsockopt(dial->socket_fd, SOL_SOCKET, SO_ERROR, &failure, &bytes) == 0 && failure == 0) {
    (void)epoll_ctl(dial->epoll_fd, EPOLL_CTL_DEL, dial->socket_fd, NULL);
    *transport = rd_tcp_adopt(rd_take_fd(&dial->socket_fd), error);
    return *transport != NULL ? RD_OUTCOME_DONE : RD_OUTCOME_FAILED;
  }
  errno = failure;
  explain_refusal(dial, error);
  return dial_next(dial, error) ? RD_OUTCOME_AGAIN : RD_OUTCOME_FAILED;
}

static void dial_destroy(struct rd_connector *connector) {
  struct dial *dial = dial_of(connector);
  if (dial->socket_fd >= 0) close(dial->socket_fd);
  if (dial->epoll_fd >= 0) close(dial->epoll_fd);
  free(dial);
}

static struct dial *dial_of(const struct rd_connector *connector) {
  return (struct dial *)(uintptr_t)connector;
}
