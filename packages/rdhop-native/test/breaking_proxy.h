// SPDX-License-Identifier: Apache-2.0
// A proxy between two ends of a hop that breaks connections after a number of bytes.
#ifndef RD_BREAKING_PROXY_H
#define RD_BREAKING_PROXY_H

#include "base/cleanup.h"
#include "base/io.h"
#include "test.h"

#include <arpa/inet.h>
#include <errno.h>
#include <netinet/in.h>
#include <poll.h>
#include <pthread.h>
#include <stdatomic.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

enum breaking {
  BREAK_CLOSE,          // in an orderly manner, on both sides
  BREAK_RESET,          // on both sides
  BREAK_CLOSE_DIALER,   // only that side sees it
  BREAK_RESET_LISTENER, // only that side sees it
  BREAK_SILENCE,        // neither side sees it: no more data passes
};

struct proxy {
  enum breaking breaking;
  size_t every_bytes; // counts both directions together
  unsigned breaks;    // maximum; after that everything passes
  bool dies;          // stops listening after the last break
  uint16_t port;      // the port to dial
  uint16_t to_port;   // on 127.0.0.1
  atomic_uint broken; // so far
  atomic_bool stop;
  atomic_uint_least64_t passed_bytes;
  int listener_fd;
  pthread_t thread;
};

static inline struct sockaddr_in proxy_address(uint16_t port) {
  return (struct sockaddr_in){
      .sin_family = AF_INET, .sin_port = htons(port), .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
}

static inline void proxy_close(int fd, bool reset) {
  const struct linger linger = {.l_onoff = 1, .l_linger = 0};
  if (reset) (void)setsockopt(fd, SOL_SOCKET, SO_LINGER, &linger, sizeof linger);
  close(fd);
}

// Writes all that it has read, so that the proxy itself loses nothing. Returns false if one side is gone.
static inline bool proxy_pass(struct proxy *proxy, int from, int to, size_t *left_bytes) {
  unsigned char bytes[16384];
  size_t most = sizeof bytes < *left_bytes ? sizeof bytes : *left_bytes;
  ssize_t got = recv(from, bytes, most, MSG_DONTWAIT);
  if (got < 0 && errno == EAGAIN) return true;
  if (got <= 0 || !rd_write_all(to, bytes, (size_t)got)) return false;
  if (proxy->broken < proxy->breaks) *left_bytes -= (size_t)got;
  proxy->passed_bytes += (uint64_t)got;
  return true;
}

// Waits until the other ends have closed the connection, or the test ends.
static inline void proxy_wait_for_end(struct proxy *proxy, int fd) {
  unsigned char byte;
  while (!proxy->stop && (recv(fd, &byte, 1, MSG_PEEK | MSG_DONTWAIT) > 0 || errno == EAGAIN)) {
    struct pollfd polls[] = {{.fd = proxy->listener_fd, .events = POLLIN}};
    if (poll(polls, 1, 20) > 0) return; // a new connection takes precedence
  }
}

static inline void proxy_break(struct proxy *proxy, int dialer, int listener) {
  enum breaking breaking = proxy->breaking;
  proxy->broken++;
  if (proxy->dies && proxy->broken == proxy->breaks) {
    close(proxy->listener_fd);
    proxy->listener_fd = -1;
  }
  if (breaking == BREAK_SILENCE) proxy_wait_for_end(proxy, dialer);
  bool dialer_first = breaking == BREAK_CLOSE_DIALER;
  proxy_close(dialer_first ? dialer : listener, breaking == BREAK_RESET || breaking == BREAK_RESET_LISTENER);
  if (breaking == BREAK_CLOSE_DIALER || breaking == BREAK_RESET_LISTENER)
    proxy_wait_for_end(proxy, dialer_first ? listener : dialer);
  proxy_close(dialer_first ? listener : dialer, breaking == BREAK_RESET || breaking == BREAK_RESET_LISTENER);
}

static inline void proxy_carry(struct proxy *proxy, int dialer, int listener) {
  size_t left_bytes = proxy->every_bytes;
  bool alive = true;
  while (alive && left_bytes > 0 && !proxy->stop) {
    struct pollfd polls[] = {{.fd = dialer, .events = POLLIN}, {.fd = listener, .events = POLLIN}};
    poll(polls, 2, 20);
    if (polls[0].revents != 0) alive = proxy_pass(proxy, dialer, listener, &left_bytes);
    if (alive && left_bytes > 0 && polls[1].revents != 0) alive = proxy_pass(proxy, listener, dialer, &left_bytes);
  }
  if (alive && !proxy->stop) {
    proxy_break(proxy, dialer, listener);
    return;
  }
  close(dialer);
  close(listener);
}

static inline void *proxy_run(void *context) {
  struct proxy *proxy = context;
  while (!proxy->stop && proxy->listener_fd >= 0) {
    struct pollfd polls[] = {{.fd = proxy->listener_fd, .events = POLLIN}};
    if (poll(polls, 1, 20) <= 0) continue;
    int dialer = accept(proxy->listener_fd, NULL, NULL), listener = socket(AF_INET, SOCK_STREAM, 0);
    struct sockaddr_in address = proxy_address(proxy->to_port);
    REQUIRE(dialer >= 0 && listener >= 0);
    if (connect(listener, (struct sockaddr *)&address, sizeof address) == 0) {
      proxy_carry(proxy, dialer, listener);
      continue;
    }
    close(dialer);
    close(listener);
  }
  return NULL;
}

// Listens and fills in the port.
static inline void proxy_open(struct proxy *proxy) {
  struct sockaddr_in address = proxy_address(0);
  socklen_t bytes = sizeof address;
  proxy->listener_fd = socket(AF_INET, SOCK_STREAM, 0);
  REQUIRE(proxy->listener_fd >= 0);
  REQUIRE(bind(proxy->listener_fd, (struct sockaddr *)&address, bytes) == 0 && listen(proxy->listener_fd, 16) == 0);
  REQUIRE(getsockname(proxy->listener_fd, (struct sockaddr *)&address, &bytes) == 0);
  proxy->port = ntohs(address.sin_port);
}

static inline void proxy_start(struct proxy *proxy) {
  REQUIRE(pthread_create(&proxy->thread, NULL, proxy_run, proxy) == 0);
}

static inline void proxy_end(struct proxy *proxy) {
  proxy->stop = true;
  REQUIRE(pthread_join(proxy->thread, NULL) == 0);
  rd_cleanup_fd(&proxy->listener_fd);
}

#endif
