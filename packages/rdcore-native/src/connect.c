// SPDX-License-Identifier: Apache-2.0
#include "connect.h"

#include "candidate.h"
#include "io.h"

#include <errno.h>
#include <inttypes.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define CONNECTOR_MS 5000 // for the handshake of somebody who came to our listener
#define RETRY_MS 200
#define PAUSE_MS 100 // of a listener that could not take somebody

// An address under dialling: a connector under way, or one that waits to be tried again. What came of it is a
// candidate.
struct dial {
  struct rd_address address;
  struct rd_connector *connector;
  int64_t retry_at_ms; // 0: not waiting
};

// Somebody who is not our peer yet. Ours: dialled or adopted, so that its failure is our failure.
struct knock {
  struct rd_candidate *candidate;
  bool ours;
};

struct rd_connect {
  struct rd_connect_config config;
  struct rd_connector *listener;
  int64_t listen_again_at_ms; // 0: it does not pause
  struct dial dials[RD_DIALS_MOST];
  size_t dial_count; // 0: not dialling
  int64_t dial_until_ms;
  bool adopted;
  struct rd_error dial_error;              // the words of all that failed
  struct knock knocks[RD_CANDIDATES_MOST]; // the oldest first
  size_t knock_count;
  unsigned reported; // bits: kinds of turned-away connectors
};

static void begin_dial(struct rd_connect *connect, struct dial *dial);
static void dial_failed(struct rd_connect *connect, struct dial *dial, int number, const struct rd_error *error);
static void note_failure(struct rd_connect *connect, const char *where, const struct rd_error *error);
static void accept_connectors(struct rd_connect *connect);
static void go_on_dialling(struct rd_connect *connect);
static bool add_knock(struct rd_connect *connect, struct rd_transport *transport, bool dialler, bool ours,
                      int64_t until_ms, struct rd_error *error);
static void make_room(struct rd_connect *connect);
static bool wants_sealed(enum rd_encrypt encrypt, const struct rd_transport *transport);
static bool is_here(const char *peer);
static int service_knocks(struct rd_connect *connect, struct rd_connection **connection, struct rd_error *error);
static void knock_failed(struct rd_connect *connect, size_t index, const struct rd_error *error);
static void drop_knock(struct rd_connect *connect, size_t index);
static struct rd_connection *make_connection(struct rd_connect *connect, size_t index, struct rd_error *error);
static void choose(const struct rd_connect *connect, struct rd_connection *connection);
static bool all_dials_failed(const struct rd_connect *connect);
static bool somebody_authenticated(const struct rd_connect *connect);

struct rd_connect *rd_connect_create(const struct rd_connect_config *config, struct rd_error *error) {
  struct rd_connect *connect = calloc(1, sizeof *connect);
  if (connect == NULL) {
    rd_error_set(error, RD_CODE_INTERNAL, "no memory to connect");
    return NULL;
  }
  connect->config = *config;
  return connect;
}

void rd_connect_destroy(struct rd_connect *connect) {
  if (connect == NULL) return;
  rd_connector_destroy(connect->listener);
  for (size_t i = 0; i < connect->dial_count; i++) rd_connector_destroy(connect->dials[i].connector);
  for (size_t i = 0; i < connect->knock_count; i++) rd_candidate_destroy(connect->knocks[i].candidate);
  free(connect);
}

bool rd_connect_listen(struct rd_connect *connect, uint16_t *port, struct rd_error *error) {
  const struct rd_connect_config *config = &connect->config;
  rd_connector_destroy(connect->listener);
  connect->listener = rd_tcp_listen(config->bind_host, config->port_low, config->port_high, port, error);
  return connect->listener != NULL;
}

bool rd_connect_dial(struct rd_connect *connect, const struct rd_address *addresses, size_t count,
                     struct rd_error *error) {
  if (count == 0 || count > RD_DIALS_MOST - connect->dial_count) {
    rd_error_set(error, RD_CODE_USAGE, "%zu addresses cannot be dialled at once", connect->dial_count + count);
    return false;
  }
  if (connect->dial_count == 0) connect->dial_error = (struct rd_error){.code = RD_CODE_OK};
  connect->dial_until_ms = rd_now_ms() + connect->config.connect_timeout_ms;
  for (size_t i = 0; i < count; i++) {
    struct dial *dial = &connect->dials[connect->dial_count++];
    *dial = (struct dial){.address = addresses[i]};
    begin_dial(connect, dial);
  }
  return true;
}

bool rd_connect_adopt(struct rd_connect *connect, struct rd_transport *transport, bool dialler,
                      struct rd_error *error) {
  connect->adopted =
      add_knock(connect, transport, dialler, true, rd_now_ms() + connect->config.connect_timeout_ms, error);
  return connect->adopted;
}

int rd_connect_service(struct rd_connect *connect, struct rd_connection **connection, struct rd_error *error) {
  accept_connectors(connect);
  go_on_dialling(connect);
  int serviced = service_knocks(connect, connection, error);
  if (serviced != 0) return serviced;
  if (!all_dials_failed(connect)) return 0;
  *error = connect->dial_error;
  connect->dial_count = 0;
  connect->adopted = false;
  return -1;
}

size_t rd_connect_polls(const struct rd_connect *connect, struct pollfd *polls) {
  size_t count = 0;
  if (connect->listener != NULL && connect->listen_again_at_ms == 0)
    polls[count++] = (struct pollfd){.fd = connect->listener->ops->poll_fd(connect->listener), .events = POLLIN};
  for (size_t i = 0; i < connect->dial_count; i++) {
    const struct rd_connector *connector = connect->dials[i].connector;
    if (connector != NULL)
      polls[count++] = (struct pollfd){.fd = connector->ops->poll_fd(connector), .events = POLLIN | POLLOUT};
  }
  for (size_t i = 0; i < connect->knock_count; i++) polls[count++] = rd_candidate_poll(connect->knocks[i].candidate);
  return count;
}

int rd_connect_timeout_ms(const struct rd_connect *connect) {
  int64_t soonest_ms = connect->dial_count > 0 ? connect->dial_until_ms : INT64_MAX;
  if (connect->listen_again_at_ms > 0 && connect->listen_again_at_ms < soonest_ms)
    soonest_ms = connect->listen_again_at_ms;
  for (size_t i = 0; i < connect->dial_count; i++) {
    int64_t retry_at_ms = connect->dials[i].retry_at_ms;
    if (retry_at_ms > 0 && retry_at_ms < soonest_ms) soonest_ms = retry_at_ms;
  }
  for (size_t i = 0; i < connect->knock_count; i++) {
    int64_t until_ms = rd_candidate_until_ms(connect->knocks[i].candidate);
    if (until_ms < soonest_ms) soonest_ms = until_ms;
  }
  if (soonest_ms == INT64_MAX) return -1;
  int64_t left_ms = soonest_ms - rd_now_ms();
  if (left_ms <= 0) return 0;
  return left_ms > INT_MAX ? INT_MAX : (int)left_ms;
}

static void begin_dial(struct rd_connect *connect, struct dial *dial) {
  struct rd_error error;
  dial->retry_at_ms = 0;
  dial->connector = rd_tcp_dial(&dial->address, &error);
  if (dial->connector == NULL) dial_failed(connect, dial, errno, &error);
}

// `number` is the errno of the dial.
static void dial_failed(struct rd_connect *connect, struct dial *dial, int number, const struct rd_error *error) {
  bool nobody_listens = number == ECONNREFUSED || number == ENOENT;
  rd_connector_destroy(dial->connector);
  dial->connector = NULL;
  int64_t retry_at_ms = rd_now_ms() + RETRY_MS;
  if (connect->config.retry_refused && nobody_listens && retry_at_ms < connect->dial_until_ms)
    dial->retry_at_ms = retry_at_ms;
  else
    note_failure(connect, NULL, error);
}

// Adds to the words; a refused key is worth more than an address that did not answer.
static void note_failure(struct rd_connect *connect, const char *where, const struct rd_error *error) {
  if (where != NULL && strncmp(error->message, where, strlen(where)) == 0) where = NULL; // it names it itself
  struct rd_error *sum = &connect->dial_error;
  size_t used = strnlen(sum->message, sizeof sum->message - 1);
  snprintf(sum->message + used, sizeof sum->message - used, "%s%s%s%s", used > 0 ? "; " : "",
           where != NULL ? where : "", where != NULL ? ": " : "", error->message);
  if (error->code == RD_CODE_KEY_REFUSED) sum->code = RD_CODE_KEY_REFUSED;
  if (sum->code == RD_CODE_OK) sum->code = RD_CODE_CANNOT_CONNECT; // whatever was there, it was not our peer
}

static void accept_connectors(struct rd_connect *connect) {
  struct rd_error error;
  struct rd_transport *transport;
  if (rd_now_ms() < connect->listen_again_at_ms) return;
  connect->listen_again_at_ms = 0;
  while (connect->listener != NULL) {
    int accepted = connect->listener->ops->accept(connect->listener, &transport, &error);
    // Out of descriptors or memory: whoever waits there would wake us again at once.
    if (accepted < 0) connect->listen_again_at_ms = rd_now_ms() + PAUSE_MS;
    if (accepted <= 0) return;
    // Out of memory for one connector is no reason to end the listener.
    add_knock(connect, transport, false, false, rd_now_ms() + CONNECTOR_MS, &error);
  }
}

static void go_on_dialling(struct rd_connect *connect) {
  int64_t now_ms = rd_now_ms();
  for (size_t i = 0; i < connect->dial_count; i++) {
    struct dial *dial = &connect->dials[i];
    if (dial->retry_at_ms > 0 && dial->retry_at_ms <= now_ms) begin_dial(connect, dial);
    if (dial->connector == NULL) continue;
    struct rd_error error;
    struct rd_transport *transport = NULL;
    int dialled = dial->connector->ops->accept(dial->connector, &transport, &error);
    int number = errno;
    if (dialled == 0 && now_ms >= connect->dial_until_ms) {
      rd_error_set(&error, RD_CODE_CANNOT_CONNECT, "%s:%u: no answer in %" PRId64 " s", dial->address.host,
                   dial->address.port, connect->config.connect_timeout_ms / 1000);
      number = ETIMEDOUT;
      dialled = -1;
    }
    if (dialled < 0) dial_failed(connect, dial, number, &error);
    if (dialled <= 0) continue;
    rd_connector_destroy(dial->connector);
    dial->connector = NULL;
    if (!add_knock(connect, transport, true, true, connect->dial_until_ms, &error)) note_failure(connect, NULL, &error);
  }
}

static bool add_knock(struct rd_connect *connect, struct rd_transport *transport, bool dialler, bool ours,
                      int64_t until_ms, struct rd_error *error) {
  const struct rd_connect_config *config = &connect->config;
  struct rd_hello mine = {
      .version = RD_PROTOCOL_VERSION,
      .wants_sealed = wants_sealed(config->encrypt, transport),
      .wants_chacha = config->role == RD_ROLE_SENDER && !rd_cpu_has_aes(),
      .epoch = 1,
      .slot_bytes = config->slot_bytes,
      .slots = config->slots,
  };
  make_room(connect);
  struct rd_candidate *candidate =
      rd_candidate_create(transport, &config->identity, config->role, dialler, &mine, until_ms, error);
  if (candidate == NULL) return false;
  connect->knocks[connect->knock_count++] = (struct knock){candidate, ours};
  return true;
}

static void make_room(struct rd_connect *connect) {
  if (connect->knock_count < RD_CANDIDATES_MOST) return;
  size_t index = 0;
  while (index + 1 < connect->knock_count && rd_candidate_authenticated(connect->knocks[index].candidate)) index++;
  drop_knock(connect, index);
}

static bool wants_sealed(enum rd_encrypt encrypt, const struct rd_transport *transport) {
  bool is_rdma = strcmp(transport->ops->name, "rdma") == 0;
  switch (encrypt) {
  case RD_ENCRYPT_AUTO:
    return !is_rdma && !is_here(transport->ops->peer_name(transport));
  case RD_ENCRYPT_ALWAYS:
    return true;
  case RD_ENCRYPT_NEVER:
    return false;
  case RD_ENCRYPT_TCP:
    return !is_rdma;
  }
  return true;
}

static bool is_here(const char *peer) {
  static const char *const here[] = {"127.", "[::1]:", "[::ffff:127.", "/", "a local socket"};
  for (size_t i = 0; i < sizeof here / sizeof here[0]; i++)
    if (strncmp(peer, here[i], strlen(here[i])) == 0) return true;
  return false;
}

static int service_knocks(struct rd_connect *connect, struct rd_connection **connection, struct rd_error *error) {
  for (size_t i = 0; i < connect->knock_count;) {
    struct rd_error why;
    int serviced = rd_candidate_service(connect->knocks[i].candidate, &why);
    if (serviced > 0) {
      *connection = make_connection(connect, i, error);
      return *connection != NULL ? 1 : -1;
    }
    if (serviced < 0)
      knock_failed(connect, i, &why);
    else
      i++;
  }
  return 0;
}

static void knock_failed(struct rd_connect *connect, size_t index, const struct rd_error *error) {
  const char *peer = rd_candidate_peer(connect->knocks[index].candidate);
  // The sender closes those it does not choose, at any stage of the handshake.
  bool not_chosen = error->code == RD_CODE_PEER_LOST && connect->knock_count > 1;
  if (connect->knocks[index].ours) {
    note_failure(connect, peer, error);
  } else if (connect->config.turned_away != NULL && !not_chosen && (connect->reported & 1u << error->code) == 0) {
    connect->reported |= 1u << error->code;
    connect->config.turned_away(connect->config.context, peer, error);
  }
  drop_knock(connect, index);
}

static void drop_knock(struct rd_connect *connect, size_t index) {
  rd_candidate_destroy(connect->knocks[index].candidate);
  connect->knock_count--;
  memmove(&connect->knocks[index], &connect->knocks[index + 1],
          (connect->knock_count - index) * sizeof connect->knocks[0]);
}

static struct rd_connection *make_connection(struct rd_connect *connect, size_t index, struct rd_error *error) {
  const struct rd_connect_config *config = &connect->config;
  struct rd_transport *transport = NULL;
  struct rd_agreement agreement;
  rd_candidate_take(connect->knocks[index].candidate, &transport, &agreement);
  struct rd_connection *connection =
      rd_connection_create(transport, &agreement, config->slots, config->slot_bytes, config->stall_timeout_ms, error);
  drop_knock(connect, index);
  if (connection != NULL) choose(connect, connection);
  return connection;
}

// The sender's PING says that it has taken this connection; the receiver answers it as any other. Whether it went out
// shows when the connection is used.
static void choose(const struct rd_connect *connect, struct rd_connection *connection) {
  struct rd_error ignored;
  enum rd_frame_type type = connect->config.role == RD_ROLE_SENDER ? RD_FRAME_PING : RD_FRAME_PONG;
  if (rd_connection_send(connection, type, 0, NULL, 0, &ignored) > 0) (void)rd_connection_flush(connection, &ignored);
}

static bool all_dials_failed(const struct rd_connect *connect) {
  if (connect->dial_count == 0 && !connect->adopted) return false;
  for (size_t i = 0; i < connect->dial_count; i++)
    if (connect->dials[i].connector != NULL || connect->dials[i].retry_at_ms > 0) return false;
  for (size_t i = 0; i < connect->knock_count; i++)
    if (connect->knocks[i].ours) return false;
  return !somebody_authenticated(connect);
}

static bool somebody_authenticated(const struct rd_connect *connect) {
  for (size_t i = 0; i < connect->knock_count; i++)
    if (rd_candidate_authenticated(connect->knocks[i].candidate)) return true;
  return false;
}
