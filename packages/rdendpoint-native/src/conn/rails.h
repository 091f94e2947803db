// SPDX-License-Identifier: Apache-2.0
// The addresses of one listener, and how many lanes of a connection use each of them. Pure.
// docs/adr/0029-several-addresses.md has the reasons.
#ifndef RD_CONN_RAILS_H
#define RD_CONN_RAILS_H

#include "transport/transport.h"

// The most addresses of one listener, over one transport, that a connection uses at the same time.
#define RD_RAILS_MAX 8u

// All zeros: none are known.
struct rd_rails {
  struct rd_address each[2 * RD_RAILS_MAX]; // over TCP or RDMA; once connected, all over the same
  unsigned lanes[2 * RD_RAILS_MAX];
  size_t count, first; // `first`: of the connection's first lane
};

// These addresses are those of one listener, or of two over TCP and RDMA. None has a lane.
void rd_rails_set(struct rd_rails *rails, const struct rd_address *addresses, size_t count);
// The first lane of a new connection uses this address, and all others the same transport. If it is none of the rails,
// it is the only one from now on.
void rd_rails_connected(struct rd_rails *rails, const struct rd_address *address);
// A further lane uses this address.
void rd_rails_joined(struct rd_rails *rails, const struct rd_address *address);
// Returns the number of lanes.
unsigned rd_rails_lanes(const struct rd_rails *rails);

// Fills in the addresses for `count` further lanes: each time the one that would have the fewest.
void rd_rails_choose(const struct rd_rails *rails, struct rd_address *addresses, unsigned count);
// Fills in the addresses to reconnect to, first that of the first lane, and returns their number.
size_t rd_rails_in_turn(const struct rd_rails *rails, struct rd_address addresses[RD_RAILS_MAX]);

#endif
