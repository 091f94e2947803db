// SPDX-License-Identifier: Apache-2.0
#include "conn/establisher.h"

#include "base/io.h"
#include "base/memory.h"

#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define HANDSHAKE_MS 5000    // time limit for a connection that a listener accepted
#define TAKEN_AT_ONCE 16u    // accepted in a row, before pending connections are serviced again
#define LANES_AGAIN_MS 10000 // after which missing lanes are dialed again

struct rd_establisher {
  struct rd_establisher_config config;
  struct rd_listener listeners[2]; // TCP, RDMA
  struct rd_dialer dialer;
  struct rd_hello_params offer;
  bool adopted;
  struct rd_pending_list pending_list;
  size_t ready;      // index of the entry to take
  unsigned reported; // bits: codes of rejections

  // About the last connection.
  uint32_t epoch; // 0: there was none
  enum rd_origin origin;
  struct rd_rails rails; // if it was dialed
  uint32_t tried_epoch;  // of the last attempts
  char join[RD_JOIN_BYTES];
  unsigned lanes_most; // that it may have
  unsigned lanes_dialed;
  int64_t lanes_dialed_at_ms;
  bool dials_lanes;
};

static void accept_connections(struct rd_establisher *establisher, struct rd_listener *listener);
static int64_t handshake_until_ms(const struct rd_establisher *establisher);
static void take_dialed(struct rd_establisher *establisher);
static struct rd_pending_entry *add_pending(struct rd_establisher *establisher, struct rd_transport *transport,
                                            bool is_dialer, int64_t until_ms, struct rd_error *error);
static uint32_t next_epoch(struct rd_establisher *establisher, bool is_dialer);
static bool service_pending(struct rd_establisher *establisher);
static void hand_over_lane(struct rd_establisher *establisher, size_t index);
static void forget_lanes(struct rd_establisher *establisher);
static void pending_failed(struct rd_establisher *establisher, size_t index, const struct rd_error *error);
static bool was_last_dial(const struct rd_establisher *establisher, const struct rd_pending_entry *entry,
                          const struct rd_error *error);
static void add_failure(struct rd_establisher *establisher, const struct rd_pending_entry *entry,
                        const struct rd_error *error);
static void reject(struct rd_establisher *establisher, const char *peer, const struct rd_error *error);
static struct rd_connection *make_connection(const struct rd_establisher *establisher, struct rd_pending *pending,
                                             struct rd_error *error);
static void choose_connection(const struct rd_establisher *establisher, struct rd_connection *connection);
static void keep_origin(struct rd_establisher *establisher, const struct rd_pending_entry *entry,
                        const struct rd_connection *connection);
static bool all_attempts_failed(const struct rd_establisher *establisher);

struct rd_establisher *rd_establisher_create(const struct rd_establisher_config *config) {
  struct rd_establisher *establisher = rd_memory_new(1, sizeof *establisher);
  establisher->config = *config;
  establisher->dialer.config = config->dialer;
  establisher->offer = (struct rd_hello_params){.role = config->role,
                                                .encrypt = config->encrypt,
                                                .compress_level = config->compress_level,
                                                .chain = config->chain,
                                                .buffer_bytes = config->buffer_bytes,
                                                .lanes = config->lanes};
  establisher->tried_epoch = 1;
  return establisher;
}

void rd_establisher_destroy(struct rd_establisher *establisher) {
  if (establisher == NULL) return;
  for (size_t i = 0; i < 2; i++) rd_listener_close(&establisher->listeners[i]);
  rd_dialer_clear(&establisher->dialer);
  while (establisher->pending_list.count > 0)
    rd_pending_list_drop(&establisher->pending_list, establisher->pending_list.count - 1);
  free(establisher);
}

bool rd_establisher_listen(struct rd_establisher *establisher, const struct rd_listen_config *listen, uint16_t *port,
                           struct rd_error *error) {
  return rd_listener_open(&establisher->listeners[listen->rdma], listen, establisher->config.dialer.poll, port, error);
}

void rd_establisher_use_rails(struct rd_establisher *establisher, const struct rd_address *addresses, size_t count) {
  rd_rails_set(&establisher->rails, addresses, count);
}

bool rd_establisher_dial(struct rd_establisher *establisher, const struct rd_address *addresses, size_t count,
                         struct rd_error *error) {
  return rd_dialer_add(&establisher->dialer, addresses, count, error);
}

bool rd_establisher_adopt(struct rd_establisher *establisher, struct rd_transport *transport, bool is_dialer,
                          struct rd_error *error) {
  struct rd_pending_entry *entry =
      add_pending(establisher, transport, is_dialer, rd_now_ms() + establisher->config.dialer.timeout_ms, error);
  if (entry != NULL) entry->origin = RD_ORIGIN_ADOPTED;
  establisher->adopted = entry != NULL;
  return establisher->adopted;
}

enum rd_outcome rd_establisher_service(struct rd_establisher *establisher, struct rd_error *error) {
  for (size_t i = 0; i < 2; i++) accept_connections(establisher, &establisher->listeners[i]);
  take_dialed(establisher);
  if (service_pending(establisher)) return RD_OUTCOME_DONE;
  if (!all_attempts_failed(establisher)) return RD_OUTCOME_AGAIN;
  *error = establisher->dialer.failure;
  rd_dialer_clear(&establisher->dialer);
  establisher->adopted = false;
  establisher->tried_epoch++; // a sender may have chosen one of them as the first connection
  return RD_OUTCOME_FAILED;
}

enum rd_outcome rd_establisher_take(struct rd_establisher *establisher, struct rd_connection **connection,
                                    struct rd_error *error) {
  size_t index = rd_pending_list_drop_rdma_but(&establisher->pending_list, establisher->ready);
  struct rd_pending_entry *entry = &establisher->pending_list.each[index];
  *connection = make_connection(establisher, entry->pending, error);
  if (*connection == NULL) {
    // TCP may need less memory than an RDMA device.
    bool is_hopeless = error->code == RD_CODE_INTERNAL && !entry->rdma;
    pending_failed(establisher, index, error);
    return is_hopeless ? RD_OUTCOME_FAILED : RD_OUTCOME_AGAIN;
  }
  keep_origin(establisher, entry, *connection);
  while (establisher->pending_list.count > 0)
    rd_pending_list_drop(&establisher->pending_list, establisher->pending_list.count - 1);
  return RD_OUTCOME_DONE;
}

void rd_establisher_dial_lanes(struct rd_establisher *establisher, unsigned lanes) {
  struct rd_address addresses[RD_LANES_MAX];
  struct rd_error ignored;
  unsigned wanted = lanes < establisher->lanes_most ? lanes : establisher->lanes_most;
  unsigned joined = rd_rails_lanes(&establisher->rails);
  bool is_redialing = establisher->dialer.count > 0 && !establisher->dials_lanes;
  if (wanted <= joined || establisher->origin != RD_ORIGIN_DIALED || is_redialing) return;
  int64_t now_ms = rd_now_ms();
  if (wanted <= establisher->lanes_dialed && now_ms < establisher->lanes_dialed_at_ms + LANES_AGAIN_MS) return;
  establisher->lanes_dialed = wanted;
  establisher->lanes_dialed_at_ms = now_ms;
  rd_rails_choose(&establisher->rails, addresses, wanted - joined);
  rd_dialer_clear(&establisher->dialer);
  establisher->dials_lanes = rd_dialer_add(&establisher->dialer, addresses, wanted - joined, &ignored);
}

bool rd_establisher_reconnect(struct rd_establisher *establisher) {
  struct rd_address addresses[RD_RAILS_MAX];
  forget_lanes(establisher);
  if (establisher->origin == RD_ORIGIN_DIALED && !establisher->dialer.redials) {
    size_t count = rd_rails_in_turn(&establisher->rails, addresses);
    rd_dialer_redial(&establisher->dialer, addresses, count);
  }
  return establisher->origin != RD_ORIGIN_ADOPTED;
}

void rd_establisher_cancel(struct rd_establisher *establisher) {
  if (!establisher->dialer.redials) return;
  rd_dialer_clear(&establisher->dialer);
  for (size_t i = establisher->pending_list.count; i-- > 0;)
    if (establisher->pending_list.each[i].origin == RD_ORIGIN_DIALED)
      rd_pending_list_drop(&establisher->pending_list, i);
}

size_t rd_establisher_polls(const struct rd_establisher *establisher, struct pollfd *polls) {
  size_t count = 0;
  for (size_t i = 0; i < 2; i++) count += rd_listener_polls(&establisher->listeners[i], polls + count);
  count += rd_dialer_polls(&establisher->dialer, polls + count);
  for (size_t i = 0; i < establisher->pending_list.count; i++)
    polls[count++] = rd_pending_poll(establisher->pending_list.each[i].pending);
  return count;
}

int rd_establisher_timeout_ms(const struct rd_establisher *establisher) {
  int64_t soonest_ms = rd_dialer_due_ms(&establisher->dialer);
  for (size_t i = 0; i < 2; i++) {
    int64_t due_ms = rd_listener_due_ms(&establisher->listeners[i]);
    if (due_ms < soonest_ms) soonest_ms = due_ms;
  }
  for (size_t i = 0; i < establisher->pending_list.count; i++) {
    int64_t until_ms = rd_pending_until_ms(establisher->pending_list.each[i].pending);
    if (until_ms < soonest_ms) soonest_ms = until_ms;
  }
  if (establisher->config.dialer.poll && establisher->pending_list.count > 0) return 0;
  if (soonest_ms == INT64_MAX) return -1;
  int64_t left_ms = soonest_ms - rd_now_ms();
  if (left_ms <= 0) return 0;
  return left_ms > INT_MAX ? INT_MAX : (int)left_ms;
}

static void accept_connections(struct rd_establisher *establisher, struct rd_listener *listener) {
  struct rd_error error;
  struct rd_transport *transport;
  for (unsigned taken = 0; taken < TAKEN_AT_ONCE && rd_listener_accept(listener, &transport); taken++) {
    char peer[RD_PENDING_PEER_BYTES];
    snprintf(peer, sizeof peer, "%s", transport->ops->peer_name(transport));
    // A failure of one connection does not end the listener.
    if (add_pending(establisher, transport, false, handshake_until_ms(establisher), &error) == NULL)
      reject(establisher, peer, &error);
  }
}

static int64_t handshake_until_ms(const struct rd_establisher *establisher) {
  int64_t within_ms = establisher->config.handshake_ms;
  return rd_now_ms() + (within_ms > 0 ? within_ms : HANDSHAKE_MS);
}

static void take_dialed(struct rd_establisher *establisher) {
  struct rd_error error;
  struct rd_transport *transport;
  const struct rd_address *address;
  while (rd_dialer_next(&establisher->dialer, &transport, &address)) {
    int64_t until_ms = establisher->dialer.redials ? handshake_until_ms(establisher) : establisher->dialer.until_ms;
    struct rd_pending_entry *entry = add_pending(establisher, transport, true, until_ms, &error);
    if (entry == NULL && establisher->dials_lanes) continue;
    if (entry != NULL) {
      entry->origin = RD_ORIGIN_DIALED;
      entry->address = *address;
    } else if (establisher->dialer.redials) {
      rd_dialer_retry(&establisher->dialer);
    } else {
      rd_dialer_add_failure(&establisher->dialer, &error);
    }
  }
}

// Returns NULL on failure; the transport is then destroyed.
static struct rd_pending_entry *add_pending(struct rd_establisher *establisher, struct rd_transport *transport,
                                            bool is_dialer, int64_t until_ms, struct rd_error *error) {
  const struct rd_establisher_config *config = &establisher->config;
  struct rd_hello mine;
  struct rd_identity identity = config->identity;
  bool may_be_lane = !is_dialer || establisher->dials_lanes;
  if (may_be_lane) {
    memcpy(identity.join, establisher->join, sizeof identity.join);
    identity.join_epoch = establisher->epoch;
  }
  bool rdma = rd_transport_is_rdma(transport);
  if (!rd_hello_params_hello(&establisher->offer, transport, next_epoch(establisher, is_dialer), &mine, error)) {
    rd_transport_destroy(transport);
    return NULL;
  }
  rd_pending_list_make_room(&establisher->pending_list, rdma);
  struct rd_pending *pending = rd_pending_create(transport, &identity, config->role, is_dialer, &mine, until_ms, error);
  if (pending == NULL) return NULL;
  // Later connections keep the window of the first one.
  if (config->role == RD_ROLE_RECEIVER && !is_dialer && establisher->epoch == 0) rd_pending_adapt_slots(pending);
  return rd_pending_list_add(&establisher->pending_list, pending, rdma);
}

// A dialer uses a higher epoch than in all earlier attempts, and the same for addresses dialed at the same time; a
// listener uses the lowest epoch that it accepts.
static uint32_t next_epoch(struct rd_establisher *establisher, bool is_dialer) {
  if (!is_dialer) return establisher->epoch + 1;
  if (establisher->dials_lanes) return establisher->epoch;
  return establisher->epoch == 0 ? establisher->tried_epoch : ++establisher->tried_epoch;
}

// Returns true if a connection is ready.
static bool service_pending(struct rd_establisher *establisher) {
  for (size_t i = 0; i < establisher->pending_list.count;) {
    struct rd_error why;
    enum rd_outcome serviced = rd_pending_service(establisher->pending_list.each[i].pending, &why);
    if (serviced == RD_OUTCOME_FAILED) {
      pending_failed(establisher, i, &why);
      continue;
    }
    if (serviced == RD_OUTCOME_DONE && rd_pending_is_lane(establisher->pending_list.each[i].pending)) {
      hand_over_lane(establisher, i);
      continue;
    }
    establisher->ready = i;
    if (serviced == RD_OUTCOME_DONE) return true;
    i++;
  }
  return false;
}

static void hand_over_lane(struct rd_establisher *establisher, size_t index) {
  struct rd_transport *transport = NULL;
  struct rd_agreement agreement;
  struct rd_pending_entry *entry = &establisher->pending_list.each[index];
  rd_pending_take(entry->pending, &transport, &agreement);
  rd_seal_destroy(agreement.outgoing); // messages keep the seals of the connection
  rd_seal_destroy(agreement.incoming);
  if (establisher->config.joined(establisher->config.context, transport))
    rd_rails_joined(&establisher->rails, &entry->address);
  rd_pending_list_drop(&establisher->pending_list, index);
}

// There will be no more lanes of the last connection.
static void forget_lanes(struct rd_establisher *establisher) {
  if (establisher->dials_lanes) rd_dialer_clear(&establisher->dialer);
  establisher->dials_lanes = false;
  establisher->lanes_most = establisher->lanes_dialed = 1;
  for (size_t i = establisher->pending_list.count; i-- > 0;)
    if (rd_pending_is_lane(establisher->pending_list.each[i].pending))
      rd_pending_list_drop(&establisher->pending_list, i);
}

static void pending_failed(struct rd_establisher *establisher, size_t index, const struct rd_error *error) {
  if (rd_pending_is_lane(establisher->pending_list.each[index].pending)) {
    rd_pending_list_drop(&establisher->pending_list, index);
    return;
  }
  const struct rd_pending_entry *entry = &establisher->pending_list.each[index];
  // The sender closes the connections that it does not choose, at any stage of the handshake.
  bool not_chosen = rd_code_is_loss(error->code) && establisher->pending_list.count > 1;
  bool was_last = was_last_dial(establisher, entry, error), authenticated = rd_pending_authenticated(entry->pending);
  if (was_last && authenticated) { // the sender may have chosen it before it broke
    establisher->tried_epoch++;
    rd_dialer_redial(&establisher->dialer, &entry->address, 1);
  } else if (was_last && rd_dialer_try_once_more(&establisher->dialer, &entry->address)) {
    // its listener may have been full
  } else if (entry->origin == RD_ORIGIN_DIALED && establisher->dialer.redials && error->code != RD_CODE_KEY_REFUSED) {
    rd_dialer_retry(&establisher->dialer);
  } else if (entry->origin != RD_ORIGIN_LISTENER) {
    add_failure(establisher, entry, error);
    if (entry->rdma) rd_dialer_start_tcp(&establisher->dialer);
  } else if (!not_chosen) {
    reject(establisher, entry->peer, error);
  }
  rd_pending_list_drop(&establisher->pending_list, index);
}

// Returns true if it was the last one dialed for the first connection, and was lost.
static bool was_last_dial(const struct rd_establisher *establisher, const struct rd_pending_entry *entry,
                          const struct rd_error *error) {
  return entry->origin == RD_ORIGIN_DIALED && !establisher->dialer.redials && establisher->pending_list.count == 1 &&
         !rd_dialer_under_way(&establisher->dialer) && rd_code_is_loss(error->code);
}

// Adds the peer's name, unless the message already begins with it.
static void add_failure(struct rd_establisher *establisher, const struct rd_pending_entry *entry,
                        const struct rd_error *error) {
  bool is_named = strncmp(error->message, entry->peer, strlen(entry->peer)) == 0;
  struct rd_error named;
  rd_error_set(&named, error->code, "%s%s%s%s", entry->rdma ? "RDMA " : "", is_named ? "" : entry->peer,
               is_named ? "" : ": ", error->message);
  rd_dialer_add_failure(&establisher->dialer, &named);
}

// Reports a rejected peer, once per code.
static void reject(struct rd_establisher *establisher, const char *peer, const struct rd_error *error) {
  if (establisher->config.rejected == NULL || (establisher->reported & 1u << error->code) != 0) return;
  establisher->reported |= 1u << error->code;
  establisher->config.rejected(establisher->config.context, peer, error);
}

static struct rd_connection *make_connection(const struct rd_establisher *establisher, struct rd_pending *pending,
                                             struct rd_error *error) {
  const struct rd_establisher_config *config = &establisher->config;
  struct rd_transport *transport = NULL;
  struct rd_agreement agreement;
  rd_pending_take(pending, &transport, &agreement);
  const char *device = transport->ops->device_name(transport);
  if (device != NULL && config->bind_numa != NULL) config->bind_numa(config->context, device);
  struct rd_connection_settings settings = {.stall_timeout_ms = config->stall_timeout_ms,
                                            .poll = config->dialer.poll,
                                            .compress_level = config->compress_level,
                                            .jobs = config->jobs,
                                            .congestion = config->congestion};
  struct rd_connection *connection = rd_connection_create(transport, &agreement, &settings, error);
  if (connection != NULL) choose_connection(establisher, connection);
  return connection;
}

// A sender's PING chooses the connection, and the receiver answers it. A failure is noticed when the connection is
// used.
static void choose_connection(const struct rd_establisher *establisher, struct rd_connection *connection) {
  struct rd_error ignored;
  if (establisher->config.role == RD_ROLE_SENDER)
    rd_connection_choose(connection);
  else if (rd_connection_send(connection, RD_FRAME_PONG, 0, NULL, 0, &ignored) == RD_OUTCOME_DONE)
    (void)rd_connection_flush(connection, &ignored);
}

// Closes everything that is not needed to reconnect by the same method.
static void keep_origin(struct rd_establisher *establisher, const struct rd_pending_entry *entry,
                        const struct rd_connection *connection) {
  const struct rd_hello *mine = &rd_connection_agreement(connection)->mine;
  establisher->epoch = establisher->tried_epoch = rd_connection_epoch(connection);
  establisher->origin = entry->origin;
  rd_rails_connected(&establisher->rails, &entry->address);
  establisher->lanes_most = rd_connection_agreement(connection)->lanes;
  establisher->lanes_dialed = 1;
  memcpy(establisher->join, rd_connection_agreement(connection)->join, sizeof establisher->join);
  establisher->dials_lanes = false;
  establisher->offer.window = (struct rd_window){.slots = mine->slots, .slot_bytes = mine->slot_bytes};
  rd_dialer_clear(&establisher->dialer);
  for (size_t rdma = 0; rdma < 2; rdma++) {
    if (entry->origin == RD_ORIGIN_LISTENER && (rdma == 1) == entry->rdma) continue;
    rd_listener_close(&establisher->listeners[rdma]);
  }
}

static bool all_attempts_failed(const struct rd_establisher *establisher) {
  if (establisher->dialer.count == 0 && !establisher->adopted) return false;
  if (rd_dialer_under_way(&establisher->dialer) || establisher->dials_lanes) return false;
  for (size_t i = 0; i < establisher->pending_list.count; i++)
    if (establisher->pending_list.each[i].origin != RD_ORIGIN_LISTENER) return false;
  return !rd_pending_list_authenticated(&establisher->pending_list);
}
