// SPDX-License-Identifier: Apache-2.0
// Pending connections; when full, the least advanced handshake is evicted.
#ifndef RD_CONN_PENDING_LIST_H
#define RD_CONN_PENDING_LIST_H

#include "conn/pending.h"

// Limits for all pending connections, and for those over RDMA, whose memory is locked. One more connection evicts the
// oldest of the least advanced ones.
#define RD_PENDING_MAX 64u
#define RD_PENDING_RDMA_MAX 16u

#define RD_PENDING_PEER_BYTES 320u

// The origin of a connection. If a connection from a listener fails, that is not a failure of this end.
enum rd_origin { RD_ORIGIN_LISTENER, RD_ORIGIN_DIALED, RD_ORIGIN_ADOPTED };

struct rd_pending_entry {
  struct rd_pending *pending;
  enum rd_origin origin;
  bool rdma;
  char peer[RD_PENDING_PEER_BYTES];
  struct rd_address address; // if dialed
};

struct rd_pending_list {
  struct rd_pending_entry each[RD_PENDING_MAX]; // oldest first
  size_t count;
};

// Makes room for one more; call before creating its pending connection.
void rd_pending_list_make_room(struct rd_pending_list *pending_list, bool rdma);
// Takes ownership of the pending connection. The entry has RD_ORIGIN_LISTENER until the caller sets another origin.
struct rd_pending_entry *rd_pending_list_add(struct rd_pending_list *pending_list, struct rd_pending *pending,
                                             bool rdma);
void rd_pending_list_drop(struct rd_pending_list *pending_list, size_t index);
// If this connection is over RDMA, drops all others over RDMA, because it needs their locked memory. Returns its new
// index.
size_t rd_pending_list_drop_rdma_but(struct rd_pending_list *pending_list, size_t index);
// Returns true if a peer proved the key.
bool rd_pending_list_authenticated(const struct rd_pending_list *pending_list);

#endif
