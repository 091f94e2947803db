// SPDX-License-Identifier: Apache-2.0
#include "transport/tcp/lane.h"

#include "base/cleanup.h"

#include <linux/tcp.h> // <netinet/tcp.h> lacks members of tcp_info
#include <netinet/in.h>
#include <poll.h>
#include <stdlib.h>
#include <sys/epoll.h>
#include <sys/socket.h>

struct rd_tcp_lane *rd_tcp_lane_create(int fd, struct rd_slots *slots) {
  struct rd_tcp_lane *lane = calloc(1, sizeof *lane);
  if (lane == NULL) return NULL;
  lane->fd = fd;
  lane->polled_events = EPOLLIN; // as rd_lanes_add() does
  lane->receive.slots = slots;
  return lane;
}

void rd_tcp_lane_destroy(struct rd_tcp_lane *lane) {
  if (lane == NULL) return;
  rd_cleanup_fd(&lane->fd);
  free(lane);
}

uint32_t rd_tcp_lane_events(const struct rd_tcp_lane *lane) {
  _Static_assert(EPOLLIN == POLLIN && EPOLLOUT == POLLOUT, "one set of events serves both");
  bool wants_room = lane->send.queue_count > 0 || rd_tcp_receive_has_early(&lane->receive);
  return (rd_tcp_receive_has_slot(&lane->receive) ? EPOLLIN : 0u) | (wants_room ? EPOLLOUT : 0u);
}

void rd_tcp_lane_check(struct rd_tcp_lane *lane, bool was_away, int64_t now_ms) {
  struct tcp_info info = {0};
  socklen_t bytes = sizeof info;
  bool known = getsockopt(lane->fd, IPPROTO_TCP, TCP_INFO, &info, &bytes) == 0;
  bool has_moved = info.tcpi_bytes_acked != lane->acked_bytes;
  if (has_moved) lane->acked_at_ms = now_ms;
  if (!known || has_moved || was_away || info.tcpi_unacked == 0) lane->silent_since_ms = now_ms;
  lane->acked_bytes = info.tcpi_bytes_acked;
  lane->rtt_us = info.tcpi_rtt;
}
