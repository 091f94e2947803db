// SPDX-License-Identifier: Apache-2.0
#include "endpoint.h"

#include "io.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#define FAREWELL_MS 2000
#define CLOSED_MS 5000 // for the sender's BYE after our CLOSED
#define SLOTS_LEAST 4u

static bool open_endpoint(struct rd_endpoint *endpoint, const struct rd_settings *settings, struct rd_error *error);
static void divide_buffer(size_t buffer_bytes, uint32_t *slots, uint32_t *slot_bytes);
static void tell_turned_away(void *context, const char *peer, const struct rd_error *why);
static bool listen_now(struct rd_endpoint *endpoint, struct rd_error *error);
static void tell_dial_failed(struct rd_endpoint *endpoint, const struct rd_error *error);
static void tell_connected(struct rd_endpoint *endpoint);
static bool still_listening(const struct rd_endpoint *endpoint, struct rd_error *error);
static int sooner(int first_ms, int second_ms);

void rd_endpoint_init(struct rd_endpoint *endpoint, enum rd_role role, struct rd_control *control) {
  *endpoint = (struct rd_endpoint){.role = role, .control = control};
  rd_meter_start(&endpoint->meter);
}

void rd_endpoint_clear(struct rd_endpoint *endpoint) {
  rd_connect_destroy(endpoint->connect);
  rd_connection_destroy(endpoint->connection);
  endpoint->connect = NULL;
  endpoint->connection = NULL;
  explicit_bzero(endpoint->settings.key, sizeof endpoint->settings.key);
}

bool rd_endpoint_obey(struct rd_endpoint *endpoint, const struct rd_order *order, struct rd_error *error) {
  if (order->type == RD_ORDER_ABORT) {
    rd_error_set(error, order->code, "%s", order->words);
    return false;
  }
  if (order->type == RD_ORDER_LOST) {
    rd_error_set(error, RD_CODE_ABORTED, "%s", order->words);
    return false;
  }
  if (order->type == RD_ORDER_OPEN) return open_endpoint(endpoint, &order->settings, error);
  if (endpoint->connect == NULL) {
    rd_error_set(error, RD_CODE_USAGE, "an order came before open, or after the connection was made");
    return false;
  }
  if (order->type == RD_ORDER_LISTEN) return listen_now(endpoint, error);
  bool begun = order->type == RD_ORDER_DIAL
                   ? rd_connect_dial(endpoint->connect, order->addresses, order->address_count, error)
                   : rd_connect_adopt(endpoint->connect, order->fd, order->dialler, error);
  if (!begun) tell_dial_failed(endpoint, error);
  return true;
}

bool rd_endpoint_connect(struct rd_endpoint *endpoint, struct rd_error *error) {
  if (endpoint->connect == NULL) return true;
  int connected = rd_connect_service(endpoint->connect, &endpoint->connection, error);
  if (connected == 0) return still_listening(endpoint, error);
  if (connected < 0 && error->code == RD_CODE_INTERNAL) return false;
  if (connected < 0) {
    tell_dial_failed(endpoint, error);
    return true;
  }
  rd_connect_destroy(endpoint->connect);
  endpoint->connect = NULL;
  tell_connected(endpoint);
  return true;
}

void rd_endpoint_wait(struct rd_endpoint *endpoint, struct pollfd *own, size_t own_count, int most_ms,
                      enum rd_wait wait) {
  struct pollfd polls[1 + RD_ENDPOINT_WAITS_MOST + RD_CONNECT_POLLS_MOST];
  size_t count = 0;
  polls[count++] = endpoint->control->ops->poll(endpoint->control);
  for (size_t i = 0; i < own_count; i++) polls[count++] = own[i];
  int timeout_ms = sooner(most_ms, rd_meter_timeout_ms(&endpoint->meter));
  if (endpoint->connection != NULL) {
    polls[count++] = (struct pollfd){.fd = rd_connection_poll_fd(endpoint->connection),
                                     .events = rd_connection_poll_events(endpoint->connection)};
    timeout_ms = sooner(timeout_ms, rd_connection_timeout_ms(endpoint->connection));
  } else if (endpoint->connect != NULL) {
    count += rd_connect_polls(endpoint->connect, polls + count);
    timeout_ms = sooner(timeout_ms, rd_connect_timeout_ms(endpoint->connect));
  }
  int64_t before_ms = rd_now_ms();
  poll(polls, count, timeout_ms);
  for (size_t i = 0; i < own_count; i++) own[i].revents = polls[1 + i].revents;
  if (endpoint->connection != NULL) rd_meter_add_wait(&endpoint->meter, wait, rd_now_ms() - before_ms);
}

bool rd_endpoint_take_abort(struct rd_endpoint *endpoint, const struct rd_arrival *arrival, struct rd_error *error) {
  struct rd_abort abort;
  if (!rd_abort_decode(arrival->payload, arrival->bytes, &abort, error)) return false;
  endpoint->peer_ended = true;
  rd_error_set(error, RD_CODE_ABORTED, "the other side ended it: %s", abort.words);
  return false;
}

bool rd_endpoint_out_of_place(const struct rd_arrival *arrival, struct rd_error *error) {
  rd_error_set(error, RD_CODE_DATA_DAMAGED, "a frame of type %d at offset %" PRIu64 " came out of place",
               (int)arrival->frame.type, arrival->frame.offset);
  return false;
}

void rd_endpoint_farewell(struct rd_endpoint *endpoint, const struct rd_error *end) {
  struct rd_connection *connection = endpoint->connection;
  bool is_sender = endpoint->role == RD_ROLE_SENDER;
  bool is_gone = end->code == RD_CODE_PEER_LOST || end->code == RD_CODE_PEER_STALLED;
  bool is_good = end->code == RD_CODE_OK || end->code == RD_CODE_CLOSED;
  uint64_t bytes = endpoint->meter.bytes;
  if (connection == NULL || is_gone || (endpoint->peer_ended && !(is_good && is_sender))) {
    // nothing to say
  } else if (is_good && is_sender) {
    rd_connection_say_last(connection, RD_FRAME_BYE, bytes, NULL, 0, FAREWELL_MS);
  } else if (end->code == RD_CODE_CLOSED) {
    rd_connection_say_last(connection, RD_FRAME_CLOSED, bytes, NULL, 0, CLOSED_MS);
  } else if (end->code != RD_CODE_OK) {
    struct rd_abort abort = {.code = end->code};
    unsigned char payload[RD_CONTROL_PAYLOAD_MAX_BYTES];
    snprintf(abort.words, sizeof abort.words, "%s", end->message);
    size_t payload_bytes = rd_abort_encode(&abort, payload);
    rd_connection_say_last(connection, RD_FRAME_ABORT, bytes, payload, payload_bytes, FAREWELL_MS);
  }
}

void rd_endpoint_finish(struct rd_endpoint *endpoint, const struct rd_error *end) {
  rd_meter_tell(&endpoint->meter, endpoint->control, true);
  struct rd_event event = {.type = RD_EVENT_FINISHED, .error = end, .bytes = endpoint->meter.bytes};
  endpoint->control->ops->tell(endpoint->control, &event);
}

static bool open_endpoint(struct rd_endpoint *endpoint, const struct rd_settings *settings, struct rd_error *error) {
  if (endpoint->opened) {
    rd_error_set(error, RD_CODE_USAGE, "open came twice");
    return false;
  }
  endpoint->opened = true;
  endpoint->settings = *settings;
  settings = &endpoint->settings;
  if (endpoint->role == RD_ROLE_RECEIVER)
    divide_buffer(settings->buffer_bytes, &endpoint->slots, &endpoint->slot_bytes);
  struct rd_connect_config config = {
      .identity = {.key = settings->key, .hop = settings->hop},
      .role = endpoint->role,
      .encrypt = settings->encrypt,
      .slot_bytes = endpoint->slot_bytes,
      .slots = endpoint->slots,
      .connect_timeout_ms = settings->connect_timeout_ms,
      .stall_timeout_ms = settings->stall_timeout_ms,
      .retry_refused = settings->retry_refused,
      .bind_host = settings->bind_host[0] != '\0' ? settings->bind_host : NULL,
      .port_low = settings->port_low,
      .port_high = settings->port_high,
      .turned_away = tell_turned_away,
      .context = endpoint,
  };
  snprintf(config.identity.run, sizeof config.identity.run, "%s", settings->run);
  endpoint->connect = rd_connect_create(&config, error);
  return endpoint->connect != NULL;
}

// Slots of 1 MiB, smaller ones when there would be too few.
static void divide_buffer(size_t buffer_bytes, uint32_t *slots, uint32_t *slot_bytes) {
  size_t each = buffer_bytes / SLOTS_LEAST;
  *slot_bytes = each < RD_SLOT_MAX_BYTES ? (uint32_t)each : RD_SLOT_MAX_BYTES;
  *slots = (uint32_t)(buffer_bytes / *slot_bytes);
}

static void tell_turned_away(void *context, const char *peer, const struct rd_error *why) {
  struct rd_endpoint *endpoint = context;
  struct rd_event event = {.type = RD_EVENT_TURNED_AWAY, .peer = peer, .error = why};
  endpoint->control->ops->tell(endpoint->control, &event);
}

static bool listen_now(struct rd_endpoint *endpoint, struct rd_error *error) {
  struct rd_event event = {.type = RD_EVENT_LISTENING};
  if (!rd_connect_listen(endpoint->connect, &event.port, error)) return false;
  if (endpoint->settings.listen_timeout_ms > 0)
    endpoint->listen_until_ms = rd_now_ms() + endpoint->settings.listen_timeout_ms;
  endpoint->control->ops->tell(endpoint->control, &event);
  return true;
}

static void tell_dial_failed(struct rd_endpoint *endpoint, const struct rd_error *error) {
  struct rd_event event = {.type = RD_EVENT_DIAL_FAILED, .error = error};
  endpoint->control->ops->tell(endpoint->control, &event);
}

static void tell_connected(struct rd_endpoint *endpoint) {
  const struct rd_connection *connection = endpoint->connection;
  struct rd_event event = {
      .type = RD_EVENT_CONNECTED,
      .transport = rd_connection_transport(connection),
      .cipher = rd_connection_cipher(connection),
      .local = rd_connection_local(connection),
      .peer = rd_connection_peer(connection),
  };
  endpoint->control->ops->tell(endpoint->control, &event);
}

static bool still_listening(const struct rd_endpoint *endpoint, struct rd_error *error) {
  if (endpoint->listen_until_ms == 0 || rd_now_ms() < endpoint->listen_until_ms) return true;
  rd_error_set(error, RD_CODE_CANNOT_CONNECT, "nobody came in %" PRId64 " s",
               endpoint->settings.listen_timeout_ms / 1000);
  return false;
}

// -1: never.
static int sooner(int first_ms, int second_ms) {
  if (first_ms < 0) return second_ms;
  return second_ms < 0 || first_ms < second_ms ? first_ms : second_ms;
}
