// SPDX-License-Identifier: Apache-2.0
#include "transport/verbs/connector.h"
#include "base/memory.h"
#include "transport/verbs/transport.h"

#include <arpa/inet.h>
#include <netinet/in.h>
#include <stdlib.h>

enum {
  BACKLOG = 64,
  ADDRESSES_MAX = 16,
  RESOLVE_MS = 3000,
  RETRIES = 6,      // on some devices 7 means forever
  ACK_TIMEOUT = 16, // 4.096 us x 2^16, 0.27 s: about 2 s with the retries, up to four times as long on hardware
};

struct listener {
  struct rd_connector base;
  struct rd_verbs_id id;
  bool poll;
};

struct dial {
  struct rd_connector base;
  struct rd_socket_address from; // bytes 0: the routing table decides
  struct rd_socket_address addresses[ADDRESSES_MAX];
  size_t count;
  size_t tried; // the current attempt is the last of these
  bool poll;
  struct rd_verbs_id id;          // until it has a device
  struct rd_transport *transport; // from then on
  bool handed_over;
};

static int listener_poll_fd(const struct rd_connector *connector);
static enum rd_outcome listener_accept(struct rd_connector *connector, struct rd_transport **transport,
                                       struct rd_error *error);
static void listener_destroy(struct rd_connector *connector);
static int dial_poll_fd(const struct rd_connector *connector);
static enum rd_outcome dial_accept(struct rd_connector *connector, struct rd_transport **transport,
                                   struct rd_error *error);
static void dial_destroy(struct rd_connector *connector);

static bool has_device(const struct rd_verbs_library *verbs, struct rd_error *error);
static bool listen_on(struct rd_verbs_id *id, const char *bind_host, uint16_t low, uint16_t high,
                      struct rd_error *error);
static bool bind_in_range(struct rd_verbs_id *id, struct rd_socket_address socket_address, uint16_t low, uint16_t high);
static enum rd_outcome accept_request(const struct listener *listener, struct rdma_cm_id *request,
                                      struct rd_transport **transport, struct rd_error *error);
static struct listener *listener_of(const struct rd_connector *connector);
static bool find_ends(struct dial *dial, const struct rd_address *address, struct rd_error *error);
static bool dial_next(struct dial *dial, struct rd_error *error);
static void drop_attempt(struct dial *dial);
static struct rd_verbs_id *current_id(struct dial *dial);
static bool go_on(struct dial *dial, const struct rd_verbs_event *event, struct rd_error *error);
static bool build_and_route(struct dial *dial, struct rd_error *error);
static bool begin_connecting(struct dial *dial);
static void explain_refusal(const struct dial *dial, struct rd_error *error);
static struct dial *dial_of(const struct rd_connector *connector);

static const struct rd_connector_ops listener_ops = {listener_poll_fd, listener_accept, listener_destroy};
static const struct rd_connector_ops dial_ops = {dial_poll_fd, dial_accept, dial_destroy};

bool rd_verbs_usable(struct rd_error *error) {
  struct rd_verbs_id id;
  if (!rd_verbs_id_create(&id, error)) return false;
  bool usable = has_device(id.verbs, error);
  rd_verbs_id_destroy(&id);
  return usable;
}

static bool has_device(const struct rd_verbs_library *verbs, struct rd_error *error) {
  int count = 0;
  struct ibv_context **devices = verbs->rdma_get_devices(&count);
  if (devices != NULL) verbs->rdma_free_devices(devices);
  if (devices != NULL && count > 0) return true;
  char command[RD_VERBS_COMMAND_BYTES];
  rd_verbs_library_install_command(command);
  rd_error_set(error, RD_CODE_CANNOT_CONNECT,
               "this machine has no RDMA device that its libraries can use (%s; to list the devices: rdma link)",
               command);
  return false;
}

struct rd_connector *rd_verbs_listen(const char *bind_host, uint16_t low, uint16_t high, bool poll, uint16_t *port,
                                     struct rd_error *error) {
  struct rd_verbs_id id;
  if (!rd_verbs_id_create(&id, error)) return NULL;
  if (!has_device(id.verbs, error) || !listen_on(&id, bind_host, low, high, error)) {
    rd_verbs_id_destroy(&id);
    return NULL;
  }
  struct listener *listener = rd_memory_new(1, sizeof *listener);
  *listener = (struct listener){.base.ops = &listener_ops, .id = id, .poll = poll};
  *port = ntohs(id.verbs->rdma_get_src_port(id.id));
  return &listener->base;
}

static bool listen_on(struct rd_verbs_id *id, const char *bind_host, uint16_t low, uint16_t high,
                      struct rd_error *error) {
  bool everywhere = bind_host == NULL || bind_host[0] == '\0';
  struct rd_socket_address socket_address;
  if (rd_socket_address_find(everywhere ? "::" : bind_host, low, &socket_address, 1, error) == 0) return false;
  bool bound = bind_in_range(id, socket_address, low, high);
  if (!bound && everywhere && rd_socket_address_find("0.0.0.0", low, &socket_address, 1, error) > 0) // IPv6 is off
    bound = bind_in_range(id, socket_address, low, high);
  if (bound && id->verbs->rdma_listen(id->id, BACKLOG) == 0) return true;
  rd_error_set_errno(error, RD_CODE_CANNOT_CONNECT, "cannot listen for RDMA on %s",
                     everywhere ? "any address" : bind_host);
  return false;
}

static bool bind_in_range(struct rd_verbs_id *id, struct rd_socket_address socket_address, uint16_t low,
                          uint16_t high) {
  for (unsigned port = low;; port++) {
    rd_socket_address_set_port(&socket_address, (uint16_t)port);
    if (id->verbs->rdma_bind_addr(id->id, (struct sockaddr *)&socket_address.address) == 0) return true;
    if ((errno != EADDRINUSE && errno != EACCES) || port >= high) return false;
  }
}

static int listener_poll_fd(const struct rd_connector *connector) {
  return rd_verbs_id_fd(&listener_of(connector)->id);
}

static enum rd_outcome listener_accept(struct rd_connector *connector, struct rd_transport **transport,
                                       struct rd_error *error) {
  struct listener *listener = listener_of(connector);
  struct rd_verbs_event event;
  while (rd_verbs_id_next(&listener->id, &event)) {
    if (event.request != NULL) return accept_request(listener, event.request, transport, error);
  }
  return RD_OUTCOME_AGAIN;
}

// If accepting fails, rejects the request; later ones can still be accepted.
static enum rd_outcome accept_request(const struct listener *listener, struct rdma_cm_id *request,
                                      struct rd_transport **transport, struct rd_error *error) {
  struct rd_verbs_id id;
  if (!rd_verbs_id_adopt(&id, listener->id.verbs, request, error)) return RD_OUTCOME_FAILED;
  *transport = rd_verbs_transport_create(&id, listener->poll, error);
  if (*transport == NULL) return RD_OUTCOME_FAILED;
  struct rdma_conn_param parameters = {.rnr_retry_count = 0};
  if (id.verbs->rdma_accept(id.id, &parameters) == 0) return RD_OUTCOME_DONE;
  rd_error_set_errno(error, RD_CODE_INTERNAL, "cannot accept an RDMA connection");
  rd_transport_destroy(*transport);
  *transport = NULL;
  return RD_OUTCOME_FAILED;
}

static void listener_destroy(struct rd_connector *connector) {
  struct listener *listener = listener_of(connector);
  rd_verbs_id_destroy(&listener->id);
  free(listener);
}

static struct listener *listener_of(const struct rd_connector *connector) {
  return (struct listener *)(uintptr_t)connector;
}

struct rd_connector *rd_verbs_dial(const struct rd_address *address, bool poll, struct rd_error *error) {
  struct dial *dial = rd_memory_new(1, sizeof *dial);
  dial->base.ops = &dial_ops;
  dial->poll = poll;
  if (find_ends(dial, address, error) && dial_next(dial, error)) return &dial->base;
  int reason = errno;
  dial_destroy(&dial->base);
  errno = reason;
  return NULL;
}

static bool find_ends(struct dial *dial, const struct rd_address *address, struct rd_error *error) {
  if (address->from[0] != '\0' && rd_socket_address_find(address->from, 0, &dial->from, 1, error) == 0) return false;
  dial->count = rd_socket_address_find(address->host, address->port, dial->addresses, ADDRESSES_MAX, error);
  return dial->count > 0;
}

// Begins with the first of the remaining addresses that is not refused at once.
static bool dial_next(struct dial *dial, struct rd_error *error) {
  while (dial->tried < dial->count) {
    drop_attempt(dial);
    if (!rd_verbs_id_create(&dial->id, error)) {
      errno = ENOSYS; // another attempt would also fail
      return false;
    }
    struct rd_socket_address *to = &dial->addresses[dial->tried++];
    struct sockaddr *from = dial->from.bytes > 0 ? (struct sockaddr *)&dial->from.address : NULL;
    if (dial->id.verbs->rdma_resolve_addr(dial->id.id, from, (struct sockaddr *)&to->address, RESOLVE_MS) == 0)
      return true;
    explain_refusal(dial, error);
  }
  return false;
}

static void drop_attempt(struct dial *dial) {
  if (dial->transport != NULL)
    rd_transport_destroy(dial->transport);
  else
    rd_verbs_id_destroy(&dial->id);
  dial->transport = NULL;
  dial->id = (struct rd_verbs_id){0};
}

static struct rd_verbs_id *current_id(struct dial *dial) {
  return dial->transport != NULL ? rd_verbs_transport_id(dial->transport) : &dial->id;
}

static int dial_poll_fd(const struct rd_connector *connector) {
  return rd_verbs_id_fd(current_id(dial_of(connector)));
}

static enum rd_outcome dial_accept(struct rd_connector *connector, struct rd_transport **transport,
                                   struct rd_error *error) {
  struct dial *dial = dial_of(connector);
  struct rd_verbs_event event;
  while (!dial->handed_over && rd_verbs_id_next(current_id(dial), &event)) {
    if (event.type == RDMA_CM_EVENT_ESTABLISHED) {
      rd_verbs_transport_established(dial->transport);
      *transport = dial->transport;
      dial->handed_over = true;
      return RD_OUTCOME_DONE;
    }
    if (go_on(dial, &event, error)) continue;
    if (!dial_next(dial, error)) return RD_OUTCOME_FAILED;
  }
  return RD_OUTCOME_AGAIN;
}

// Takes the next step of a dial. Returns false, with errno, if this attempt failed.
static bool go_on(struct dial *dial, const struct rd_verbs_event *event, struct rd_error *error) {
  if (event->type == RDMA_CM_EVENT_ADDR_RESOLVED) return build_and_route(dial, error);
  if (event->type == RDMA_CM_EVENT_ROUTE_RESOLVED) {
    if (begin_connecting(dial)) return true;
  } else {
    errno = rd_verbs_event_errno(event);
  }
  explain_refusal(dial, error);
  return false;
}

static bool build_and_route(struct dial *dial, struct rd_error *error) {
  struct rd_verbs_id id = dial->id;
  dial->id = (struct rd_verbs_id){0};
  dial->transport = rd_verbs_transport_create(&id, dial->poll, error);
  if (dial->transport == NULL) return false;
  if (id.verbs->rdma_resolve_route(id.id, RESOLVE_MS) == 0) return true;
  explain_refusal(dial, error);
  return false;
}

static bool begin_connecting(struct dial *dial) {
  const struct rd_verbs_id *id = current_id(dial);
  uint8_t timeout = ACK_TIMEOUT;
  // An old kernel does not know this option and keeps its own timeout.
  (void)id->verbs->rdma_set_option(id->id, RDMA_OPTION_ID, RDMA_OPTION_ID_ACK_TIMEOUT, &timeout, sizeof timeout);
  struct rdma_conn_param parameters = {.retry_count = RETRIES, .rnr_retry_count = 0};
  return id->verbs->rdma_connect(id->id, &parameters) == 0;
}

// Sets the error for the address that was tried last, according to errno, which is kept.
static void explain_refusal(const struct dial *dial, struct rd_error *error) {
  int reason = errno;
  char text[RD_SOCKET_ADDRESS_TEXT_BYTES];
  rd_socket_address_text(&dial->addresses[dial->tried - 1], text);
  errno = reason;
  rd_error_set_errno(error, RD_CODE_CANNOT_CONNECT, "RDMA %s", text);
  errno = reason;
}

static void dial_destroy(struct rd_connector *connector) {
  struct dial *dial = dial_of(connector);
  if (!dial->handed_over) drop_attempt(dial);
  free(dial);
}

static struct dial *dial_of(const struct rd_connector *connector) {
  return (struct dial *)(uintptr_t)connector;
}
