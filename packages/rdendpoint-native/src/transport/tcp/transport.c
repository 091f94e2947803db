// SPDX-License-Identifier: Apache-2.0
// Messages over a connected stream socket: 4 bytes of length, little-endian, then the message.
#include "transport/transport.h"
#include "base/address.h"
#include "base/cleanup.h"
#include "transport/tcp/connector.h"
#include "transport/tcp/long_path.h"
#include "transport/tcp/receive.h"
#include "transport/tcp/send.h"

#include <netinet/in.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <sys/socket.h>

struct tcp {
  struct rd_transport base;
  int fd;
  struct rd_tcp_send send;
  struct rd_tcp_receive receive;
  char local[RD_SOCKET_ADDRESS_TEXT_BYTES];
  char peer[RD_SOCKET_ADDRESS_TEXT_BYTES];
};

static bool tcp_arm(struct rd_transport *transport, unsigned slots, size_t payload_bytes, struct rd_error *error);
static size_t tcp_memory_most_bytes(const struct rd_transport *transport);
static bool tcp_register(struct rd_transport *transport, const void *memory, size_t bytes, struct rd_error *error);
static int tcp_poll_fd(const struct rd_transport *transport);
static short tcp_poll_events(const struct rd_transport *transport);
static enum rd_outcome tcp_send(struct rd_transport *transport, const struct iovec *parts, int count,
                                struct rd_error *error);
static bool tcp_flush(struct rd_transport *transport, struct rd_error *error);
static uint64_t tcp_released(const struct rd_transport *transport);
static void tcp_expect_releases(struct rd_transport *transport, bool expected);
static void tcp_quiet(struct rd_transport *transport);
static enum rd_outcome tcp_receive(struct rd_transport *transport, struct rd_message *message, struct rd_error *error);
static void tcp_give_back(struct rd_transport *transport, const struct rd_message *message);
static int64_t tcp_silent_ms(const struct rd_transport *transport);
static void tcp_tune_long_path(struct rd_transport *transport, size_t window_bytes, bool congestion);
static void tcp_limits(const struct rd_transport *transport, struct rd_limits *limits);
static void tcp_disconnect(struct rd_transport *transport);
static const char *tcp_local_name(const struct rd_transport *transport);
static const char *tcp_peer_name(const struct rd_transport *transport);
static const char *tcp_device_name(const struct rd_transport *transport);
static void tcp_destroy(struct rd_transport *transport);

static struct tcp *tcp_of(const struct rd_transport *transport);
static void set_names(struct tcp *tcp);
static void tune_socket(int fd);

static const struct rd_transport_ops tcp_ops = {
    .name = "tcp",
    .is_stream = true,
    .arm = tcp_arm,
    .memory_most_bytes = tcp_memory_most_bytes,
    .register_memory = tcp_register,
    .poll_fd = tcp_poll_fd,
    .poll_events = tcp_poll_events,
    .send = tcp_send,
    .flush = tcp_flush,
    .released = tcp_released,
    .expect_releases = tcp_expect_releases,
    .quiet = tcp_quiet,
    .receive = tcp_receive,
    .give_back = tcp_give_back,
    .silent_ms = tcp_silent_ms,
    .tune_long_path = tcp_tune_long_path,
    .limits = tcp_limits,
    .disconnect = tcp_disconnect,
    .local_name = tcp_local_name,
    .peer_name = tcp_peer_name,
    .device_name = tcp_device_name,
    .destroy = tcp_destroy,
};

struct rd_transport *rd_tcp_adopt(int fd, struct rd_error *error) {
  RD_AUTO_CLOSE int owned = fd;
  struct tcp *tcp = calloc(1, sizeof *tcp);
  if (tcp == NULL) {
    rd_error_set(error, RD_CODE_INTERNAL, "no memory for a connection");
    return NULL;
  }
  if (!rd_slots_create_early(&tcp->receive.slots, error)) {
    free(tcp);
    return NULL;
  }
  tcp->base.ops = &tcp_ops;
  tcp->fd = rd_take_fd(&owned);
  set_names(tcp);
  tune_socket(tcp->fd);
  return &tcp->base;
}

static void set_names(struct tcp *tcp) {
  struct rd_socket_address local = {.bytes = sizeof local.address}, peer = {.bytes = sizeof peer.address};
  if (getsockname(tcp->fd, (struct sockaddr *)&local.address, &local.bytes) < 0) local.bytes = 0;
  if (getpeername(tcp->fd, (struct sockaddr *)&peer.address, &peer.bytes) < 0) peer.bytes = 0;
  rd_socket_address_text(&local, tcp->local);
  rd_socket_address_text(&peer, tcp->peer);
}

// The system may refuse any of these (a Unix socket has none of them); the connection works without. The keepalive
// frames decide how long a peer may be silent; the kernel's keepalive only detects a host that is gone for good.
static void tune_socket(int fd) {
  const int on = 1, idle_s = 30, interval_s = 10, probes = 6;
  (void)setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &on, sizeof on);
  (void)setsockopt(fd, SOL_SOCKET, SO_KEEPALIVE, &on, sizeof on);
  (void)setsockopt(fd, IPPROTO_TCP, TCP_KEEPIDLE, &idle_s, sizeof idle_s);
  (void)setsockopt(fd, IPPROTO_TCP, TCP_KEEPINTVL, &interval_s, sizeof interval_s);
  (void)setsockopt(fd, IPPROTO_TCP, TCP_KEEPCNT, &probes, sizeof probes);
}

static bool tcp_arm(struct rd_transport *transport, unsigned slots, size_t payload_bytes, struct rd_error *error) {
  return rd_tcp_receive_arm(&tcp_of(transport)->receive, slots, payload_bytes, error);
}

static size_t tcp_memory_most_bytes(const struct rd_transport *transport) {
  (void)transport;
  return SIZE_MAX;
}

static bool tcp_register(struct rd_transport *transport, const void *memory, size_t bytes, struct rd_error *error) {
  (void)transport, (void)memory, (void)bytes, (void)error;
  return true;
}

static int tcp_poll_fd(const struct rd_transport *transport) {
  return tcp_of(transport)->fd;
}

static short tcp_poll_events(const struct rd_transport *transport) {
  const struct tcp *tcp = tcp_of(transport);
  bool wants_room = tcp->send.queue_count > 0 || rd_tcp_receive_has_early(&tcp->receive);
  return (short)((rd_tcp_receive_has_slot(&tcp->receive) ? POLLIN : 0) | (wants_room ? POLLOUT : 0));
}

static enum rd_outcome tcp_send(struct rd_transport *transport, const struct iovec *parts, int count,
                                struct rd_error *error) {
  return rd_tcp_send_accept(&tcp_of(transport)->send, parts, count, error);
}

static bool tcp_flush(struct rd_transport *transport, struct rd_error *error) {
  struct tcp *tcp = tcp_of(transport);
  if (rd_tcp_send_flush(&tcp->send, tcp->fd)) return true;
  rd_tcp_explain_end(tcp->peer, error);
  return false;
}

static uint64_t tcp_released(const struct rd_transport *transport) {
  return tcp_of(transport)->send.released;
}

// Unreleased messages wait for space in the socket buffer, for which the descriptor is polled anyway.
static void tcp_expect_releases(struct rd_transport *transport, bool expected) {
  (void)transport, (void)expected;
}

static void tcp_quiet(struct rd_transport *transport) {
  tcp_of(transport)->receive.quiet = true;
}

static enum rd_outcome tcp_receive(struct rd_transport *transport, struct rd_message *message, struct rd_error *error) {
  struct tcp *tcp = tcp_of(transport);
  return rd_tcp_receive_next(&tcp->receive, tcp->fd, tcp->peer, message, error);
}

static void tcp_give_back(struct rd_transport *transport, const struct rd_message *message) {
  rd_slots_give(&tcp_of(transport)->receive.slots, message->slot);
}

static int64_t tcp_silent_ms(const struct rd_transport *transport) {
  struct tcp_info info;
  socklen_t bytes = sizeof info;
  bool known = getsockopt(tcp_of(transport)->fd, IPPROTO_TCP, TCP_INFO, &info, &bytes) == 0;
  return known ? (int64_t)info.tcpi_last_data_recv : INT64_MAX;
}

static void tcp_tune_long_path(struct rd_transport *transport, size_t window_bytes, bool congestion) {
  rd_tcp_tune_long_path(tcp_of(transport)->fd, window_bytes, congestion);
}

static void tcp_limits(const struct rd_transport *transport, struct rd_limits *limits) {
  rd_tcp_read_limits(tcp_of(transport)->fd, limits);
}

static void tcp_disconnect(struct rd_transport *transport) {
  rd_cleanup_fd(&tcp_of(transport)->fd);
}

static const char *tcp_local_name(const struct rd_transport *transport) {
  return tcp_of(transport)->local;
}

static const char *tcp_peer_name(const struct rd_transport *transport) {
  return tcp_of(transport)->peer;
}

static const char *tcp_device_name(const struct rd_transport *transport) {
  (void)transport;
  return NULL;
}

static void tcp_destroy(struct rd_transport *transport) {
  struct tcp *tcp = tcp_of(transport);
  rd_cleanup_fd(&tcp->fd);
  rd_slots_free(&tcp->receive.slots);
  free(tcp);
}

static struct tcp *tcp_of(const struct rd_transport *transport) {
  return (struct tcp *)(uintptr_t)transport;
}
