// SPDX-License-Identifier: Apache-2.0
#include "transport/verbs/id.h"

#include "base/io.h"

#include <errno.h>
#include <string.h>

// From the InfiniBand specification, table "REJ reason codes"; no public header has it.
#define REJECTED_INVALID_SERVICE_ID 8

static bool open_channel(struct rd_verbs_id *id, struct rd_error *error);
static void text_of(const struct sockaddr_storage *address, char text[RD_SOCKET_ADDRESS_TEXT_BYTES]);

bool rd_verbs_id_create(struct rd_verbs_id *id, struct rd_error *error) {
  *id = (struct rd_verbs_id){.verbs = rd_verbs_library(error)};
  if (id->verbs == NULL || !open_channel(id, error)) return false;
  if (id->verbs->rdma_create_id(id->channel, &id->id, NULL, RDMA_PS_TCP) == 0) return true;
  rd_error_set_errno(error, RD_CODE_CANNOT_CONNECT, "cannot use the RDMA connection manager");
  id->id = NULL;
  rd_verbs_id_destroy(id);
  return false;
}

bool rd_verbs_id_adopt(struct rd_verbs_id *id, const struct rd_verbs_library *verbs, struct rdma_cm_id *adopted,
                       struct rd_error *error) {
  *id = (struct rd_verbs_id){.verbs = verbs, .id = adopted};
  if (open_channel(id, error)) {
    if (verbs->rdma_migrate_id(adopted, id->channel) == 0) return true;
    rd_error_set_errno(error, RD_CODE_INTERNAL, "cannot accept an RDMA connection");
  }
  rd_verbs_id_destroy(id);
  return false;
}

void rd_verbs_id_destroy(struct rd_verbs_id *id) {
  if (id->id != NULL) id->verbs->rdma_destroy_id(id->id);
  if (id->channel != NULL) id->verbs->rdma_destroy_event_channel(id->channel);
  id->id = NULL;
  id->channel = NULL;
}

int rd_verbs_id_fd(const struct rd_verbs_id *id) {
  return id->channel->fd;
}

bool rd_verbs_id_next(struct rd_verbs_id *id, struct rd_verbs_event *event) {
  struct rdma_cm_event *came = NULL;
  if (id->verbs->rdma_get_cm_event(id->channel, &came) != 0) return false;
  *event = (struct rd_verbs_event){
      .type = came->event,
      .status = came->status,
      .request = came->event == RDMA_CM_EVENT_CONNECT_REQUEST ? came->id : NULL,
  };
  id->verbs->rdma_ack_cm_event(came);
  return true;
}

int rd_verbs_event_errno(const struct rd_verbs_event *event) {
  switch (event->type) {
  case RDMA_CM_EVENT_REJECTED: // iWARP reports an errno
    return event->status == REJECTED_INVALID_SERVICE_ID || event->status == -ECONNREFUSED ? ECONNREFUSED : ECONNABORTED;
  case RDMA_CM_EVENT_ADDR_ERROR:
  case RDMA_CM_EVENT_ROUTE_ERROR:
    return event->status < 0 && event->status != -ETIMEDOUT ? -event->status : EHOSTUNREACH;
  case RDMA_CM_EVENT_UNREACHABLE:
    return event->status < 0 ? -event->status : EHOSTUNREACH;
  case RDMA_CM_EVENT_DEVICE_REMOVAL:
    return ENODEV;
  default:
    return ECONNABORTED;
  }
}

void rd_verbs_id_local(const struct rd_verbs_id *id, char text[RD_SOCKET_ADDRESS_TEXT_BYTES]) {
  text_of(&id->id->route.addr.src_storage, text);
}

void rd_verbs_id_peer(const struct rd_verbs_id *id, char text[RD_SOCKET_ADDRESS_TEXT_BYTES]) {
  text_of(&id->id->route.addr.dst_storage, text);
}

static bool open_channel(struct rd_verbs_id *id, struct rd_error *error) {
  id->channel = id->verbs->rdma_create_event_channel();
  if (id->channel == NULL) {
    rd_error_set_errno(error, RD_CODE_CANNOT_CONNECT,
                       "cannot use the RDMA connection manager (is the kernel module rdma_ucm loaded?)");
    return false;
  }
  if (rd_set_nonblocking(id->channel->fd)) return true;
  rd_error_set_errno(error, RD_CODE_INTERNAL, "cannot use the RDMA connection manager");
  return false;
}

static void text_of(const struct sockaddr_storage *address, char text[RD_SOCKET_ADDRESS_TEXT_BYTES]) {
  struct rd_socket_address socket_address = {.bytes = address->ss_family == AF_INET6 ? sizeof(struct sockaddr_in6)
                                                                                     : sizeof(struct sockaddr_in)};
  memcpy(&socket_address.address, address, socket_address.bytes);
  rd_socket_address_text(&socket_address, text);
}
