// SPDX-License-Identifier: Apache-2.0
// One socket of a connection, and whether the peer still acknowledges what it sends.
#ifndef RD_TRANSPORT_TCP_LANE_H
#define RD_TRANSPORT_TCP_LANE_H

#include "transport/tcp/receive.h"
#include "transport/tcp/send.h"

struct rd_tcp_lane {
  int fd;
  struct rd_tcp_send send;
  struct rd_tcp_receive receive;
  uint32_t polled_events; // by rd_lanes, if there are several lanes
  // At the last check:
  uint64_t acked_bytes;
  int64_t acked_at_ms;     // when the peer's system last acknowledged more
  int64_t silent_since_ms; // since when it has acknowledged nothing although it should
  uint32_t rtt_us;
};

// Takes ownership of the socket. NULL: no memory, and the caller keeps it.
struct rd_tcp_lane *rd_tcp_lane_create(int fd, struct rd_slots *slots);
void rd_tcp_lane_destroy(struct rd_tcp_lane *lane); // accepts NULL

// The events to poll for now: those of poll() and of epoll.
uint32_t rd_tcp_lane_events(const struct rd_tcp_lane *lane);

// Call it regularly. `was_away`: this process did not; the time before does not count as silence.
void rd_tcp_lane_check(struct rd_tcp_lane *lane, bool was_away, int64_t now_ms);

#endif
