// SPDX-License-Identifier: Apache-2.0
// An rdma_cm id with its own event channel, and its events.
#ifndef RD_TRANSPORT_VERBS_ID_H
#define RD_TRANSPORT_VERBS_ID_H

#include "base/address.h"
#include "transport/verbs/library.h"

struct rd_verbs_id {
  const struct rd_verbs_library *verbs;
  struct rdma_event_channel *channel;
  struct rdma_cm_id *id;
};

// Returns false if the libraries or the kernel's connection manager are missing (RD_CODE_CANNOT_CONNECT).
bool rd_verbs_id_create(struct rd_verbs_id *id, struct rd_error *error);
// Takes ownership of the id of a connect request whose event is acknowledged; destroys it on failure.
bool rd_verbs_id_adopt(struct rd_verbs_id *id, const struct rd_verbs_library *verbs, struct rdma_cm_id *adopted,
                       struct rd_error *error);
void rd_verbs_id_destroy(struct rd_verbs_id *id); // all zeros and a second call are allowed

// Readable when rd_verbs_id_next() may return an event.
int rd_verbs_id_fd(const struct rd_verbs_id *id);

// An event of an id.
struct rd_verbs_event {
  enum rdma_cm_event_type type;
  int status;                 // 0, a negative errno, or the reason of a REJECTED
  struct rdma_cm_id *request; // of a CONNECT_REQUEST
};
// Returns the next event. Returns false if there is none now.
bool rd_verbs_id_next(struct rd_verbs_id *id, struct rd_verbs_event *event);

// Returns the errno of a failed dial: ECONNREFUSED if there is no listener.
int rd_verbs_event_errno(const struct rd_verbs_event *event);

// Format the address of this end, and of the peer.
void rd_verbs_id_local(const struct rd_verbs_id *id, char text[RD_SOCKET_ADDRESS_TEXT_BYTES]);
void rd_verbs_id_peer(const struct rd_verbs_id *id, char text[RD_SOCKET_ADDRESS_TEXT_BYTES]);

#endif
