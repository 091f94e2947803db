// SPDX-License-Identifier: Apache-2.0
// Messages over a connected stream socket, or over several of one connection.
// Before each: 4 bytes with its length and, if there are several sockets, its number.
#include "transport/transport.h"
#include "base/address.h"
#include "base/cleanup.h"
#include "base/io.h"
#include "transport/lanes.h"
#include "transport/tcp/connector.h"
#include "transport/tcp/lane.h"
#include "transport/tcp/long_path.h"

#include <netinet/in.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <stdlib.h>
#include <sys/epoll.h>
#include <sys/socket.h>

// Slots for what several lanes hold out of order besides DATA, and the messages that each has begun to receive.
#define SLOTS_BESIDE 64u
#define SLOTS_A_LANE 2u
#define SILENT_MS 1500
#define CHECK_MS 200
#define SILENT_ROUND_TRIPS 4

struct tcp {
  struct rd_transport base;
  struct rd_lanes lanes;
  struct rd_tcp_lane *each[RD_LANES_MAX];
  unsigned turn; // the lane that is tried first
  struct rd_slots slots;
  struct { // see rd_tcp_tune_long_path()
    bool is_long, congestion;
    size_t window_bytes;
  } path;
  int64_t checked_at_ms;
  char local[RD_SOCKET_ADDRESS_TEXT_BYTES];
  char peer[RD_SOCKET_ADDRESS_TEXT_BYTES];
};

static unsigned tcp_lanes_most(const struct rd_transport *transport);
static uint32_t tcp_rtt_us(const struct rd_transport *transport);
static void tcp_expect_lanes(struct rd_transport *transport, unsigned most, unsigned first);
static bool tcp_join(struct rd_transport *transport, struct rd_transport *joining, struct rd_error *error);
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
static struct rd_tcp_lane *first_of(const struct rd_transport *transport);
static void set_names(struct tcp *tcp);
static void tune_socket(int fd);
static void tune_lane(const struct tcp *tcp, const struct rd_tcp_lane *lane);
static struct rd_tcp_lane *lane_for(const struct tcp *tcp, const struct iovec *parts, int count);
static bool lanes_are_alive(struct tcp *tcp, struct rd_error *error);
static rd_lane_receive receive_from;

static const struct rd_transport_ops tcp_ops = {
    .name = "tcp",
    .is_stream = true,
    .lanes_most = tcp_lanes_most,
    .rtt_us = tcp_rtt_us,
    .expect_lanes = tcp_expect_lanes,
    .join = tcp_join,
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
  struct rd_tcp_lane *lane = rd_tcp_lane_create(fd, tcp != NULL ? &tcp->slots : NULL);
  if (tcp == NULL || lane == NULL || !rd_slots_create_early(&tcp->slots, error)) {
    rd_error_set(error, RD_CODE_INTERNAL, "no memory for a connection");
    free(tcp);
    free(lane);
    return NULL;
  }
  (void)rd_take_fd(&owned); // the lane's
  tcp->base.ops = &tcp_ops;
  rd_lanes_init(&tcp->lanes);
  tcp->each[0] = lane;
  set_names(tcp);
  tune_socket(lane->fd);
  return &tcp->base;
}

static void set_names(struct tcp *tcp) {
  int fd = tcp->each[0]->fd;
  struct rd_socket_address local = {.bytes = sizeof local.address}, peer = {.bytes = sizeof peer.address};
  if (getsockname(fd, (struct sockaddr *)&local.address, &local.bytes) < 0) local.bytes = 0;
  if (getpeername(fd, (struct sockaddr *)&peer.address, &peer.bytes) < 0) peer.bytes = 0;
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

static unsigned tcp_lanes_most(const struct rd_transport *transport) {
  struct sockaddr_storage address;
  socklen_t bytes = sizeof address;
  bool known = getsockname(first_of(transport)->fd, (struct sockaddr *)&address, &bytes) == 0;
  return known && address.ss_family != AF_UNIX ? RD_LANES_MAX : 1;
}

static uint32_t tcp_rtt_us(const struct rd_transport *transport) {
  struct tcp_info info = {0};
  socklen_t bytes = sizeof info;
  return getsockopt(first_of(transport)->fd, IPPROTO_TCP, TCP_INFO, &info, &bytes) == 0 ? info.tcpi_rtt : 0;
}

static void tcp_expect_lanes(struct rd_transport *transport, unsigned most, unsigned first) {
  struct tcp *tcp = tcp_of(transport);
  rd_lanes_expect(&tcp->lanes, most, first);
  tcp->each[0]->receive.is_numbered = true;
  (void)rd_tcp_limit_unsent(tcp->each[0]->fd); // the other lanes wait for what this one has taken
}

static bool tcp_join(struct rd_transport *transport, struct rd_transport *joining, struct rd_error *error) {
  struct tcp *tcp = tcp_of(transport), *other = tcp_of(joining);
  bool may_join = rd_lanes_may_join(&tcp->lanes, joining->ops == &tcp_ops, tcp->peer, error);
  struct rd_tcp_lane *lane = may_join ? other->each[0] : NULL;
  if (!may_join || !rd_tcp_receive_use(&lane->receive, &tcp->slots, error) ||
      !rd_lanes_add(&tcp->lanes, tcp->each[0]->fd, lane->fd, error)) {
    rd_transport_destroy(joining);
    return false;
  }
  lane->receive.is_numbered = true;
  tcp->each[tcp->lanes.count - 1] = lane;
  (void)rd_tcp_limit_unsent(lane->fd);
  tune_lane(tcp, lane);
  other->lanes.count = 0; // the lane is this transport's now
  rd_transport_destroy(joining);
  return true;
}

static bool tcp_arm(struct rd_transport *transport, unsigned slots, size_t payload_bytes, struct rd_error *error) {
  struct tcp *tcp = tcp_of(transport);
  struct rd_slots early = tcp->slots;
  struct rd_tcp_receive *receive = &tcp->each[0]->receive;
  unsigned beside = tcp->lanes.most > 1 ? SLOTS_BESIDE + SLOTS_A_LANE * tcp->lanes.most : 0;
  receive->slots = &early;
  if (!rd_slots_create(&tcp->slots, slots + beside, payload_bytes, error)) {
    tcp->slots = early;
    receive->slots = &tcp->slots;
    return false;
  }
  if (!rd_tcp_receive_use(receive, &tcp->slots, error)) {
    rd_slots_free(&tcp->slots);
    tcp->slots = early;
    receive->slots = &tcp->slots;
    return false;
  }
  rd_slots_free(&early);
  return true;
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
  const struct tcp *tcp = tcp_of(transport);
  return tcp->lanes.count > 1 ? tcp->lanes.epoll_fd : tcp->each[0]->fd;
}

static short tcp_poll_events(const struct rd_transport *transport) {
  const struct tcp *tcp = tcp_of(transport);
  if (tcp->lanes.count == 1) return (short)rd_tcp_lane_events(tcp->each[0]);
  for (unsigned i = 0; i < tcp->lanes.count; i++) {
    struct rd_tcp_lane *lane = tcp->each[i];
    struct epoll_event wanted = {.events = rd_tcp_lane_events(lane), .data.ptr = lane};
    if (tcp->lanes.has_ended[i] || wanted.events == lane->polled_events) continue;
    (void)epoll_ctl(tcp->lanes.epoll_fd, EPOLL_CTL_MOD, lane->fd, &wanted);
    lane->polled_events = wanted.events;
  }
  return POLLIN;
}

static enum rd_outcome tcp_send(struct rd_transport *transport, const struct iovec *parts, int count,
                                struct rd_error *error) {
  struct tcp *tcp = tcp_of(transport);
  struct rd_tcp_lane *lane = lane_for(tcp, parts, count);
  unsigned number = rd_lanes_next_number(&tcp->lanes);
  if (lane == NULL) return RD_OUTCOME_AGAIN;
  enum rd_outcome sent = rd_tcp_send_accept(&lane->send, parts, count, tcp->lanes.accepted, number, error);
  if (sent == RD_OUTCOME_DONE) tcp->lanes.accepted++;
  if (sent == RD_OUTCOME_DONE && tcp->lanes.count > 1) tcp->turn = (tcp->turn + 1) % tcp->lanes.count;
  return sent;
}

// NULL: none can take the message now. Only one at a time waits for a lane: another lane may be free sooner.
static struct rd_tcp_lane *lane_for(const struct tcp *tcp, const struct iovec *parts, int count) {
  size_t bytes = 0;
  for (int i = 0; i < count; i++) bytes += parts[i].iov_len;
  if (tcp->lanes.count == 1 || bytes <= RD_SHORT_MESSAGE_BYTES) return tcp->each[0];
  for (unsigned i = 0; i < tcp->lanes.count; i++) {
    struct rd_tcp_lane *lane = tcp->each[(tcp->turn + i) % tcp->lanes.count];
    if (lane->send.queue_count == 0) return lane;
  }
  return NULL;
}

static bool tcp_flush(struct rd_transport *transport, struct rd_error *error) {
  struct tcp *tcp = tcp_of(transport);
  for (unsigned i = 0; i < tcp->lanes.count; i++) {
    if (rd_tcp_send_flush(&tcp->each[i]->send, tcp->each[i]->fd, &tcp->lanes.released)) continue;
    rd_tcp_explain_end(tcp->peer, error);
    return false;
  }
  return tcp->lanes.count == 1 || lanes_are_alive(tcp, error);
}

// A lane whose path is lost would hold up all others. If the others are silent as well, the keepalive decides.
static bool lanes_are_alive(struct tcp *tcp, struct rd_error *error) {
  int64_t now_ms = rd_now_ms(), away_ms = now_ms - tcp->checked_at_ms, acked_at_ms = 0, silent_since_ms = now_ms;
  uint32_t rtt_us = 0;
  if (away_ms < CHECK_MS) return true;
  tcp->checked_at_ms = now_ms;
  for (unsigned i = 0; i < tcp->lanes.count; i++) {
    struct rd_tcp_lane *lane = tcp->each[i];
    rd_tcp_lane_check(lane, away_ms >= SILENT_MS, now_ms);
    if (lane->acked_at_ms > acked_at_ms) acked_at_ms = lane->acked_at_ms;
    if (lane->silent_since_ms < silent_since_ms) silent_since_ms = lane->silent_since_ms;
    if (lane->rtt_us > rtt_us) rtt_us = lane->rtt_us;
  }
  int64_t most_ms = SILENT_MS + SILENT_ROUND_TRIPS * (int64_t)rtt_us / 1000;
  if (now_ms - silent_since_ms < most_ms || now_ms - acked_at_ms >= most_ms / 2) return true;
  rd_error_set(error, RD_CODE_PEER_LOST, "one of %u sockets to %s was silent for %lld ms", tcp->lanes.count, tcp->peer,
               (long long)(now_ms - silent_since_ms));
  return false;
}

static uint64_t tcp_released(const struct rd_transport *transport) {
  return tcp_of(transport)->lanes.released.prefix;
}

// Unreleased messages wait for space in the socket buffer, for which the descriptor is polled anyway.
static void tcp_expect_releases(struct rd_transport *transport, bool expected) {
  (void)transport, (void)expected;
}

static void tcp_quiet(struct rd_transport *transport) {
  const struct tcp *tcp = tcp_of(transport);
  for (unsigned i = 0; i < tcp->lanes.count; i++) tcp->each[i]->receive.quiet = true;
}

static enum rd_outcome tcp_receive(struct rd_transport *transport, struct rd_message *message, struct rd_error *error) {
  struct tcp *tcp = tcp_of(transport);
  return rd_lanes_receive(&tcp->lanes, receive_from, tcp, tcp->peer, message, error);
}

static enum rd_outcome receive_from(void *transport, unsigned lane, struct rd_message *message, unsigned *number,
                                    struct rd_error *error) {
  struct tcp *tcp = transport;
  struct rd_tcp_lane *from = tcp->each[lane];
  return rd_tcp_receive_next(&from->receive, from->fd, tcp->peer, message, number, error);
}

static void tcp_give_back(struct rd_transport *transport, const struct rd_message *message) {
  rd_slots_give(&tcp_of(transport)->slots, message->slot);
}

static int64_t tcp_silent_ms(const struct rd_transport *transport) {
  const struct tcp *tcp = tcp_of(transport);
  int64_t silent_ms = INT64_MAX;
  for (unsigned i = 0; i < tcp->lanes.count; i++) {
    struct tcp_info info;
    socklen_t bytes = sizeof info;
    if (getsockopt(tcp->each[i]->fd, IPPROTO_TCP, TCP_INFO, &info, &bytes) < 0) continue;
    if (info.tcpi_last_data_recv < silent_ms) silent_ms = info.tcpi_last_data_recv;
  }
  return silent_ms;
}

static void tcp_tune_long_path(struct rd_transport *transport, size_t window_bytes, bool congestion) {
  struct tcp *tcp = tcp_of(transport);
  tcp->path.is_long = true;
  tcp->path.congestion = congestion;
  tcp->path.window_bytes = window_bytes / tcp->lanes.most;
  for (unsigned i = 0; i < tcp->lanes.count; i++) tune_lane(tcp, tcp->each[i]);
}

static void tune_lane(const struct tcp *tcp, const struct rd_tcp_lane *lane) {
  if (tcp->path.is_long) rd_tcp_tune_long_path(lane->fd, tcp->path.window_bytes, tcp->path.congestion);
}

// Of several lanes, the longest time that one was held back.
static void tcp_limits(const struct rd_transport *transport, struct rd_limits *limits) {
  const struct tcp *tcp = tcp_of(transport);
  *limits = (struct rd_limits){0};
  for (unsigned i = 0; i < tcp->lanes.count; i++) {
    struct rd_limits each;
    rd_tcp_read_limits(tcp->each[i]->fd, &each);
    if (each.send_buffer_ms > limits->send_buffer_ms) limits->send_buffer_ms = each.send_buffer_ms;
    if (each.receive_window_ms > limits->receive_window_ms) limits->receive_window_ms = each.receive_window_ms;
    limits->sent_again += each.sent_again;
  }
}

static void tcp_disconnect(struct rd_transport *transport) {
  struct tcp *tcp = tcp_of(transport);
  for (unsigned i = 0; i < tcp->lanes.count; i++) rd_cleanup_fd(&tcp->each[i]->fd);
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
  for (unsigned i = 0; i < tcp->lanes.count; i++) rd_tcp_lane_destroy(tcp->each[i]);
  rd_lanes_close(&tcp->lanes);
  rd_slots_free(&tcp->slots);
  free(tcp);
}

static struct rd_tcp_lane *first_of(const struct rd_transport *transport) {
  return tcp_of(transport)->each[0];
}

static struct tcp *tcp_of(const struct rd_transport *transport) {
  return (struct tcp *)(uintptr_t)transport;
}
