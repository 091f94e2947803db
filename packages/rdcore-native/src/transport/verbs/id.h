// SPDX-License-Identifier: Apache-2.0
// An rdma_cm id with an event channel of its own, and what happens to it by a message.
#ifndef RD_TRANSPORT_VERBS_ID_H
#define RD_TRANSPORT_VERBS_ID_H

#include "transport/address.h"
#include "transport/verbs/library.h"

struct rd_verbs_id {
  const struct rd_verbs_library *verbs;
  struct rdma_event_channel *channel;
  struct rdma_cm_id *id;
};

// False: the libraries or the kernel's connection manager are missing (RD_CODE_CANNOT_CONNECT).
bool rd_verbs_id_create(struct rd_verbs_id *id, struct rd_error *error);
// Takes over an id that a listener was given, whose event is acknowledged; destroys it when this fails.
bool rd_verbs_id_adopt(struct rd_verbs_id *id, const struct rd_verbs_library *verbs, struct rdma_cm_id *adopted,
                       struct rd_error *error);
void rd_verbs_id_destroy(struct rd_verbs_id *id); // also of all zeros, and twice

int rd_verbs_id_fd(const struct rd_verbs_id *id);

// What happened to an id since it was asked last.
struct rd_verbs_event {
  enum rdma_cm_event_type type;
  int status;                 // 0, a negative errno, or what a REJECTED says
  struct rdma_cm_id *request; // of a CONNECT_REQUEST
};
// False: nothing more now.
bool rd_verbs_id_next(struct rd_verbs_id *id, struct rd_verbs_event *event);

// Why a dial failed, as an errno: ECONNREFUSED when nobody listens.
int rd_verbs_event_errno(const struct rd_verbs_event *event);

void rd_verbs_id_local(const struct rd_verbs_id *id, char text[RD_SOCKET_ADDRESS_TEXT_BYTES]);
void rd_verbs_id_peer(const struct rd_verbs_id *id, char text[RD_SOCKET_ADDRESS_TEXT_BYTES]);

#endif
