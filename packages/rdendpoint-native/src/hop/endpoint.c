// SPDX-License-Identifier: Apache-2.0
#include "hop/endpoint.h"

#include "base/io.h"
#include "base/numa.h"
#include "base/pages.h"

#include <stdio.h>
#include <string.h>
#include <unistd.h>

#define NOTE_BYTES 160u

static bool open_endpoint(struct rd_endpoint *endpoint, const struct rd_settings *settings, struct rd_error *error);
static void part(struct rd_endpoint *endpoint, const struct rd_error *error);
static bool rejoin(struct rd_endpoint *endpoint, const struct rd_settings *settings, struct rd_error *error);
static bool begin_connecting(struct rd_endpoint *endpoint, const struct rd_command *command, struct rd_error *error);
static bool go_on_connecting(struct rd_endpoint *endpoint, struct rd_error *error);
static void dial_lanes(struct rd_endpoint *endpoint);
static bool check_silence(struct rd_endpoint *endpoint, struct rd_error *error);
static bool take_connection(struct rd_endpoint *endpoint, struct rd_error *error);
static bool refused(struct rd_endpoint *endpoint, struct rd_error *error);
static bool still_reconnecting(struct rd_endpoint *endpoint, struct rd_error *error);
static void drop_connection(struct rd_endpoint *endpoint);
static void read_meters(struct rd_endpoint *endpoint);
static bool join_lane(void *context, struct rd_transport *lane);
static void emit_rejected(void *context, const char *peer, const struct rd_error *why);
static void bind_numa(void *context, const char *device);
static void listen_now(struct rd_endpoint *endpoint, const struct rd_listen_command *command);
static void emit_dial_failed(struct rd_endpoint *endpoint, const struct rd_error *error);
static void emit_connected(struct rd_endpoint *endpoint);
static size_t wanted_buffer(const struct rd_endpoint *endpoint);
static size_t size_buffer(struct rd_endpoint *endpoint);
static bool still_listening(const struct rd_endpoint *endpoint, struct rd_error *error);

void rd_endpoint_init(struct rd_endpoint *endpoint, enum rd_role role, struct rd_control *control,
                      const struct rd_loop_ops *ops, void *context) {
  *endpoint = (struct rd_endpoint){.role = role, .control = control, .ops = ops, .context = context};
  rd_meter_start(&endpoint->meter);
}

void rd_endpoint_clear(struct rd_endpoint *endpoint) {
  read_meters(endpoint);
  rd_establisher_destroy(endpoint->establisher);
  rd_connection_destroy(endpoint->connection);
  endpoint->establisher = NULL;
  endpoint->connection = NULL;
  explicit_bzero(endpoint->settings.key, sizeof endpoint->settings.key);
}

bool rd_endpoint_handle_command(struct rd_endpoint *endpoint, const struct rd_command *command,
                                struct rd_error *error) {
  switch (command->type) {
  case RD_COMMAND_OPEN:
    return open_endpoint(endpoint, &command->settings, error);
  case RD_COMMAND_REJOIN:
    return rejoin(endpoint, &command->settings, error);
  case RD_COMMAND_LISTEN:
  case RD_COMMAND_DIAL:
  case RD_COMMAND_ADOPT:
    return begin_connecting(endpoint, command, error);
  case RD_COMMAND_ABORT:
  case RD_COMMAND_LOST:
    rd_error_set(error, command->code, "%s", command->reason);
    return false;
  default: // commands for the other role
    return true;
  }
}

bool rd_endpoint_connect(struct rd_endpoint *endpoint, struct rd_error *error) {
  if (endpoint->establisher == NULL) return true;
  bool was_stopped = rd_liveness_pass(&endpoint->liveness, rd_now_ms());
  if (was_stopped && endpoint->connection != NULL) rd_connection_resumed(endpoint->connection);
  if (endpoint->connection != NULL && !check_silence(endpoint, error)) return false;
  if (endpoint->connection != NULL && endpoint->lanes_most > 1) dial_lanes(endpoint);
  if (endpoint->connection != NULL && !endpoint->establisher_due) return true;
  return go_on_connecting(endpoint, error);
}

bool rd_endpoint_reconnect(struct rd_endpoint *endpoint, const struct rd_error *error) {
  if (!rd_code_is_loss(error->code) || !rd_establisher_reconnect(endpoint->establisher)) return false;
  rd_liveness_broken(&endpoint->liveness, error->code == RD_CODE_PEER_CLOSED, rd_now_ms());
  endpoint->broken = *error;
  drop_connection(endpoint);
  struct rd_event event = {.type = RD_EVENT_BROKEN, .error = error};
  endpoint->control->ops->emit(endpoint->control, &event);
  return true;
}

bool rd_endpoint_part(struct rd_endpoint *endpoint, const struct rd_error *error) {
  bool is_lost = rd_code_is_loss(error->code) || error->code == RD_CODE_PEER_STALLED ||
                 (error->code == RD_CODE_ABORTED && endpoint->peer_ended);
  bool had_peer = endpoint->joined || endpoint->rejoined;
  if (!endpoint->settings.chain || !is_lost || !had_peer || endpoint->settled) return false;
  part(endpoint, error);
  return true;
}

static void part(struct rd_endpoint *endpoint, const struct rd_error *error) {
  drop_connection(endpoint);
  rd_establisher_destroy(endpoint->establisher);
  endpoint->establisher = NULL;
  endpoint->peer_ended = endpoint->joined = false;
  endpoint->rejoined = true;
  explicit_bzero(endpoint->settings.key, sizeof endpoint->settings.key);
  struct rd_event event = {.type = RD_EVENT_PARTED, .error = error, .bytes = endpoint->moved_bytes};
  endpoint->control->ops->emit(endpoint->control, &event);
}

void rd_endpoint_emit_resumed(struct rd_endpoint *endpoint, uint64_t offset) {
  struct rd_event event = {
      .type = RD_EVENT_RESUMED, .epoch = rd_connection_epoch(endpoint->connection), .bytes = offset};
  endpoint->control->ops->emit(endpoint->control, &event);
}

void rd_endpoint_emit_counters(struct rd_endpoint *endpoint, bool last) {
  if (!last && rd_meter_timeout_ms(&endpoint->meter) > 0) return;
  read_meters(endpoint);
  rd_meter_emit(&endpoint->meter, endpoint->control);
}

static bool open_endpoint(struct rd_endpoint *endpoint, const struct rd_settings *settings, struct rd_error *error) {
  if (endpoint->establisher != NULL) {
    rd_error_set(error, RD_CODE_USAGE, "open came twice");
    return false;
  }
  endpoint->settings = *settings;
  settings = &endpoint->settings;
  rd_liveness_start(&endpoint->liveness, settings->stall_timeout_ms, rd_now_ms());
  struct rd_establisher_config config = {
      .identity = {.key = settings->key, .hop = settings->hop},
      .role = endpoint->role,
      .encrypt = settings->encrypt,
      .buffer_bytes = (size_t)settings->buffer,
      .lanes = (unsigned)settings->streams,
      .stall_timeout_ms = settings->stall_timeout_ms,
      .compress_level = (int)settings->compress,
      .chain = settings->chain,
      .congestion = settings->congestion,
      .jobs = (unsigned)settings->jobs,
      .dialer = {.timeout_ms = settings->connect_timeout_ms,
                 .retry_refused = settings->retry_refused,
                 .rdma_first = settings->rdma_first,
                 .poll = settings->poll},
      .rejected = emit_rejected,
      .joined = join_lane,
      .bind_numa = settings->numa ? bind_numa : NULL,
      .context = endpoint,
  };
  snprintf(config.identity.run, sizeof config.identity.run, "%s", settings->run);
  endpoint->establisher = rd_establisher_create(&config);
  return true;
}

// The stream stays the same; only the hop changes. An end that has not parted yet does so now.
static bool rejoin(struct rd_endpoint *endpoint, const struct rd_settings *settings, struct rd_error *error) {
  struct rd_settings joined = *settings;
  struct rd_error replaced;
  rd_error_set(&replaced, RD_CODE_PEER_LOST, "another peer replaces it");
  if (endpoint->settled) return true;
  joined.chain = true;
  if (endpoint->lanes_most > 0) joined.streams = endpoint->lanes_most; // a relay has room for their window
  joined.signing = endpoint->settings.signing;
  if (endpoint->establisher != NULL) part(endpoint, &replaced);
  return open_endpoint(endpoint, &joined, error);
}

static bool begin_connecting(struct rd_endpoint *endpoint, const struct rd_command *command, struct rd_error *error) {
  if (endpoint->joined || endpoint->establisher == NULL) {
    rd_transport_destroy(command->transport);
    if (endpoint->joined) return true; // sent before the controller knew of the connection
    rd_error_set(error, RD_CODE_USAGE, "a command came before open");
    return false;
  }
  if (command->type == RD_COMMAND_LISTEN) {
    listen_now(endpoint, &command->listen);
    return true;
  }
  if (command->are_rails) rd_establisher_use_rails(endpoint->establisher, command->addresses, command->address_count);
  bool begun = command->type == RD_COMMAND_DIAL
                   ? rd_establisher_dial(endpoint->establisher, command->addresses, command->address_count, error)
                   : rd_establisher_adopt(endpoint->establisher, command->transport, command->is_dialer, error);
  if (!begun) emit_dial_failed(endpoint, error);
  return true;
}

static bool go_on_connecting(struct rd_endpoint *endpoint, struct rd_error *error) {
  switch (rd_establisher_service(endpoint->establisher, error)) {
  case RD_OUTCOME_DONE:
    return take_connection(endpoint, error);
  case RD_OUTCOME_AGAIN:
    return endpoint->joined ? still_reconnecting(endpoint, error) : still_listening(endpoint, error);
  case RD_OUTCOME_FAILED:
    break;
  }
  if (endpoint->joined) return refused(endpoint, error);
  emit_dial_failed(endpoint, error);
  return true;
}

static void dial_lanes(struct rd_endpoint *endpoint) {
  const int64_t *waited_ns = endpoint->meter.waited_ns;
  struct rd_progress progress = {.begun_bytes = endpoint->meter.bytes,
                                 .moved_bytes = endpoint->moved_bytes,
                                 .idle_ms = (waited_ns[RD_WAIT_INPUT] + waited_ns[RD_WAIT_LIMIT]) / RD_NS_A_MS,
                                 .rtt_us = rd_connection_rtt_us(endpoint->connection),
                                 .now_ms = rd_now_ms()};
  unsigned wanted = rd_climb_lanes(&endpoint->climb, endpoint->lanes_most, endpoint->settings.streams == 0, &progress);
  rd_establisher_dial_lanes(endpoint->establisher, wanted);
}

static bool check_silence(struct rd_endpoint *endpoint, struct rd_error *error) {
  const struct rd_connection *connection = endpoint->connection;
  int64_t now_ms = rd_now_ms(), silent_ms = rd_connection_silent_ms(connection);
  switch (rd_liveness_check(&endpoint->liveness, silent_ms, rd_connection_rtt_us(connection), endpoint->moved_bytes,
                            now_ms)) {
  case RD_PEER_ALIVE:
    rd_establisher_cancel(endpoint->establisher);
    return true;
  case RD_PEER_SILENT:
    endpoint->establisher_due |= rd_establisher_reconnect(endpoint->establisher);
    return true;
  case RD_PEER_REFUSED:
    return true;
  case RD_PEER_STALLED:
    break;
  }
  rd_error_set(error, RD_CODE_PEER_STALLED, "%s completed handshakes but sent no data for %lld s",
               rd_connection_peer(connection), (long long)rd_liveness_lifeless_ms(&endpoint->liveness, now_ms) / 1000);
  return false;
}

// Drops the old connection first: the device may lack memory for two.
static bool take_connection(struct rd_endpoint *endpoint, struct rd_error *error) {
  drop_connection(endpoint);
  enum rd_outcome taken = rd_establisher_take(endpoint->establisher, &endpoint->connection, error);
  if (taken != RD_OUTCOME_DONE) return taken == RD_OUTCOME_AGAIN;
  enum rd_protection protection = rd_connection_agreement(endpoint->connection)->protection;
  if (endpoint->joined && protection != endpoint->protection) { // on the same hop; after a rejoin it may differ
    rd_error_set(error, RD_CODE_DATA_DAMAGED, "%s reconnected with a different encryption",
                 rd_connection_peer(endpoint->connection));
    return false;
  }
  endpoint->lanes = 1;
  endpoint->lanes_most = rd_connection_agreement(endpoint->connection)->lanes;
  rd_climb_restart(&endpoint->climb);
  rd_liveness_connected(&endpoint->liveness, !endpoint->joined, rd_now_ms());
  if (!endpoint->joined) emit_connected(endpoint);
  endpoint->joined = true;
  endpoint->protection = protection;
  bool is_first = rd_connection_epoch(endpoint->connection) == 1 && !endpoint->rejoined;
  if (is_first) endpoint->phase = RD_PHASE_DATA;
  return endpoint->ops->attach(endpoint->context, error);
}

// The peer's listener is gone, or another process listens there. A connection that is only silent may still recover.
static bool refused(struct rd_endpoint *endpoint, struct rd_error *error) {
  struct rd_error why = *error;
  rd_liveness_refused(&endpoint->liveness, rd_now_ms());
  if (endpoint->connection != NULL) return true;
  rd_error_set(error, RD_CODE_PEER_LOST, "%s, and the other side is gone: %s", endpoint->broken.message, why.message);
  return false;
}

static bool still_reconnecting(struct rd_endpoint *endpoint, struct rd_error *error) {
  if (endpoint->connection != NULL || rd_liveness_may_reconnect(&endpoint->liveness, rd_now_ms())) return true;
  rd_error_set(error, RD_CODE_PEER_LOST, "%s, and no new connection was made in time", endpoint->broken.message);
  return false;
}

static void drop_connection(struct rd_endpoint *endpoint) {
  struct rd_connection *connection = endpoint->connection;
  read_meters(endpoint);
  endpoint->wire_bytes = endpoint->meter.wire_bytes;
  endpoint->limits = endpoint->meter.limits;
  endpoint->connection = NULL;
  endpoint->phase = RD_PHASE_RESUME;
  if (connection != NULL) endpoint->ops->detach(endpoint->context, connection);
}

// Copies the connection's own counters.
static void read_meters(struct rd_endpoint *endpoint) {
  if (endpoint->connection == NULL) return;
  endpoint->meter.rtt_us = rd_connection_rtt_us(endpoint->connection);
  endpoint->meter.wire_bytes = endpoint->wire_bytes + rd_connection_wire_bytes(endpoint->connection);
  if (endpoint->lanes > endpoint->meter.lanes) endpoint->meter.lanes = endpoint->lanes;
  const struct rd_limits *before = &endpoint->limits;
  struct rd_limits now;
  rd_connection_limits(endpoint->connection, &now);
  endpoint->meter.limits = (struct rd_limits){.send_buffer_ms = before->send_buffer_ms + now.send_buffer_ms,
                                              .receive_window_ms = before->receive_window_ms + now.receive_window_ms,
                                              .sent_again = before->sent_again + now.sent_again};
}

static bool join_lane(void *context, struct rd_transport *lane) {
  struct rd_endpoint *endpoint = context;
  if (endpoint->connection == NULL) {
    rd_transport_destroy(lane);
    return false;
  }
  bool joined = rd_connection_join(endpoint->connection, lane);
  if (joined) endpoint->lanes++;
  return joined;
}

static void emit_rejected(void *context, const char *peer, const struct rd_error *why) {
  struct rd_endpoint *endpoint = context;
  struct rd_event event = {.type = RD_EVENT_REJECTED, .peer = peer, .error = why};
  endpoint->control->ops->emit(endpoint->control, &event);
}

// Only for the first connection: the threads that start after it stay on its node.
static void bind_numa(void *context, const char *device) {
  struct rd_endpoint *endpoint = context;
  if (!endpoint->numa_bound) endpoint->has_node = rd_numa_go_to(device, &endpoint->node);
  endpoint->numa_bound = true;
}

static void listen_now(struct rd_endpoint *endpoint, const struct rd_listen_command *command) {
  const struct rd_settings *settings = &endpoint->settings;
  struct rd_listen_config listen = {
      .rdma = command->rdma, .port_low = settings->port_low, .port_high = settings->port_high};
  if (command->port > 0) listen.port_low = listen.port_high = command->port;
  snprintf(listen.bind_host, sizeof listen.bind_host, "%s",
           command->has_bind ? command->bind_host : settings->bind_host);
  struct rd_error error;
  struct rd_event event = {.type = RD_EVENT_LISTENING, .rdma = command->rdma, .error = &error};
  if (!rd_establisher_listen(endpoint->establisher, &listen, &event.port, &error)) event.type = RD_EVENT_LISTEN_FAILED;
  if (settings->listen_timeout_ms > 0) endpoint->listen_until_ms = rd_now_ms() + settings->listen_timeout_ms;
  endpoint->control->ops->emit(endpoint->control, &event);
}

static void emit_dial_failed(struct rd_endpoint *endpoint, const struct rd_error *error) {
  struct rd_event event = {.type = RD_EVENT_DIAL_FAILED, .error = error};
  endpoint->control->ops->emit(endpoint->control, &event);
}

static void emit_connected(struct rd_endpoint *endpoint) {
  const struct rd_connection *connection = endpoint->connection;
  size_t wanted_bytes = wanted_buffer(endpoint), got_bytes = size_buffer(endpoint);
  char note[NOTE_BYTES];
  rd_window_note(wanted_bytes, got_bytes, note, sizeof note);
  struct rd_event event = {
      .type = RD_EVENT_CONNECTED,
      .transport = rd_connection_transport(connection),
      .cipher = rd_connection_cipher(connection),
      .local = rd_connection_local(connection),
      .peer = rd_connection_peer(connection),
      .device = rd_connection_device(connection),
      .numa_node = endpoint->has_node ? &endpoint->node : NULL,
      .note = got_bytes < wanted_bytes ? note : NULL,
  };
  endpoint->control->ops->emit(endpoint->control, &event);
}

static size_t wanted_buffer(const struct rd_endpoint *endpoint) {
  return rd_window_buffer_bytes((size_t)endpoint->settings.buffer, endpoint->lanes_most);
}

// Returns the buffer size that the device's memory allows: of the sender's ring, or of the receiver's slots.
static size_t size_buffer(struct rd_endpoint *endpoint) {
  size_t wanted_bytes = wanted_buffer(endpoint);
  const struct rd_hello *mine = &rd_connection_agreement(endpoint->connection)->mine;
  struct rd_window wanted = rd_window_of(wanted_bytes, false),
                   got = {.slots = mine->slots, .slot_bytes = mine->slot_bytes};
  size_t most_bytes = rd_connection_register_most_bytes(endpoint->connection);
  most_bytes -= most_bytes % rd_page_bytes();
  size_t ring_bytes = rd_window_ring_bytes(wanted_bytes, endpoint->settings.behind);
  endpoint->ring_bytes = most_bytes < ring_bytes ? most_bytes : ring_bytes;
  if (endpoint->role == RD_ROLE_SENDER) return endpoint->ring_bytes;
  return rd_window_bytes(&got) < rd_window_bytes(&wanted) ? rd_window_bytes(&got) : wanted_bytes;
}

static bool still_listening(const struct rd_endpoint *endpoint, struct rd_error *error) {
  if (endpoint->listen_until_ms == 0 || rd_now_ms() < endpoint->listen_until_ms) return true;
  rd_error_set(error, RD_CODE_CANNOT_CONNECT,
               "no peer connected within %g s (to wait without a limit: --connect-timeout 0)",
               (double)endpoint->settings.listen_timeout_ms / 1000);
  return false;
}
