// SPDX-License-Identifier: Apache-2.0
// Pending connections; when full, the least advanced handshake is evicted.
#ifndef RD_CONN_PENDING_LIST_H
#define RD_CONN_PENDING_LIST_H

#include "conn/pending.h"

// Limits of all pending connections, and of those over RDMA, whose memory is locked; a further one evicts the oldest of
// the least advanced.
#define RD_PENDING_MAX 64u
#define RD_PENDING_RDMA_MAX 16u

#define RD_PENDING_PEER_BYTES 320u

// The origin of a connection. The failure of one that a listener accepted is not this end's failure.
enum rd_origin { RD_ORIGIN_LISTENER, RD_ORIGIN_DIALED, RD_ORIGIN_ADOPTED };

struct rd_pending_entry {
  struct rd_pending *pending;
  enum rd_origin origin;
  bool rdma;
  char peer[RD_PENDING_PEER_BYTES];
  struct rd_address address; // dialed
};

struct rd_pending_list {
  struct rd_pending_entry each[RD_PENDING_MAX]; // the oldest first
  size_t count;
};

// Makes room for one more; called before its pending connection is made.
void rd_pending_list_make_room(struct rd_pending_list *pending_list, bool rdma);
// Takes over the pending connection, with RD_ORIGIN_LISTENER until the caller sets another origin.
struct rd_pending_entry *rd_pending_list_add(struct rd_pending_list *pending_list, struct rd_pending *pending,
                                             bool rdma);
void rd_pending_list_drop(struct rd_pending_list *pending_list, size_t index);
// Drops all other RDMA connections if this one is over RDMA: it needs their locked memory. Returns its new index.
size_t rd_pending_list_drop_rdma_but(struct rd_pending_list *pending_list, size_t index);
// Whether a peer proved the key.
bool rd_pending_list_authenticated(const struct rd_pending_list *pending_list);

#endif
