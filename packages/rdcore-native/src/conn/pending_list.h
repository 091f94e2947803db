// SPDX-License-Identifier: Apache-2.0
// Those who are not our peer yet: a list that makes room for a newcomer at the cost of whoever has shown least.
#ifndef RD_CONN_PENDING_LIST_H
#define RD_CONN_PENDING_LIST_H

#include "conn/pending.h"

// Pending connections at once, and those of them over RDMA, whose memory is locked; a further one replaces the oldest
// of those that have shown least of the key.
#define RD_PENDING_MOST 64u
#define RD_PENDING_RDMA_MOST 16u

#define RD_PENDING_PEER_BYTES 320u

// How somebody came; but for those who came to a listener, their failure is our failure.
enum rd_origin { RD_ORIGIN_LISTENER, RD_ORIGIN_DIALED, RD_ORIGIN_ADOPTED };

struct rd_pending_entry {
  struct rd_pending *pending;
  enum rd_origin origin;
  bool rdma;
  char peer[RD_PENDING_PEER_BYTES];
  struct rd_address address; // that was dialed
};

struct rd_pending_list {
  struct rd_pending_entry each[RD_PENDING_MOST]; // the oldest first
  size_t count;
};

// For one more: to be called before its pending connection is made.
void rd_pending_list_make_room(struct rd_pending_list *pending_list, bool rdma);
// Takes the pending connection over, as one who came to a listener until the caller says otherwise.
struct rd_pending_entry *rd_pending_list_add(struct rd_pending_list *pending_list, struct rd_pending *pending,
                                             bool rdma);
void rd_pending_list_drop(struct rd_pending_list *pending_list, size_t index);
// The locked memory of those beside it is needed now. Returns where it is then.
size_t rd_pending_list_drop_rdma_but(struct rd_pending_list *pending_list, size_t index);
// Somebody holds the key.
bool rd_pending_list_authenticated(const struct rd_pending_list *pending_list);

#endif
