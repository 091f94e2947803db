// SPDX-License-Identifier: Apache-2.0
#include "hop_end.h"

#include "io.h"
#include "keepalive.h"
#include "numa.h"

#include <inttypes.h>
#include <sched.h>
#include <stdio.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#define FAREWELL_MS 2000
#define CLOSED_MS 5000 // for the sender's BYE after our CLOSED
#define NOTE_BYTES 160u
// Another connection is tried beside the one there is: its PING has gone unanswered for half a second and four round
// trips.
#define SILENT_MS (RD_PING_AFTER_MS + 500)
#define SILENT_ROUND_TRIPS 4
// Who closes a connection while the network works, and wants another one, comes at once.
#define CLOSED_MS_TO_MEND 5000
#define STOPPED_AFTER_MS 2000 // we were stopped ourselves: nobody could come
#define RING_UNIT_BYTES 4096u

static bool open_hop_end(struct rd_hop_end *hop_end, const struct rd_settings *settings, struct rd_error *error);
static bool go_on_connecting(struct rd_hop_end *hop_end, struct rd_error *error);
static void keep_time(struct rd_hop_end *hop_end);
static bool look_for_silence(struct rd_hop_end *hop_end, struct rd_error *error);
static bool take_connection(struct rd_hop_end *hop_end, struct rd_error *error);
static bool refused(struct rd_hop_end *hop_end, struct rd_error *error);
static bool still_mending(struct rd_hop_end *hop_end, struct rd_error *error);
static void part(struct rd_hop_end *hop_end);
static void read_meters(struct rd_hop_end *hop_end);
static void tell_turned_away(void *context, const char *peer, const struct rd_error *why);
static void settle(void *context, const char *device);
static void listen_now(struct rd_hop_end *hop_end, const struct rd_listen_order *order);
static void tell_dial_failed(struct rd_hop_end *hop_end, const struct rd_error *error);
static void tell_connected(struct rd_hop_end *hop_end);
static size_t size_buffer(struct rd_hop_end *hop_end);
static bool still_listening(const struct rd_hop_end *hop_end, struct rd_error *error);
static int64_t sooner(int64_t first_ns, int64_t second_ns);

void rd_hop_end_init(struct rd_hop_end *hop_end, enum rd_role role, struct rd_control *control,
                     void (*let_go)(void *context, struct rd_connection *connection), void *context) {
  *hop_end = (struct rd_hop_end){
      .role = role, .control = control, .let_go = let_go, .context = context, .passed_at_ms = rd_now_ms()};
  rd_meter_start(&hop_end->meter);
}

void rd_hop_end_clear(struct rd_hop_end *hop_end) {
  read_meters(hop_end);
  rd_connect_destroy(hop_end->connect);
  rd_connection_destroy(hop_end->connection);
  hop_end->connect = NULL;
  hop_end->connection = NULL;
  explicit_bzero(hop_end->settings.key, sizeof hop_end->settings.key);
}

bool rd_hop_end_obey(struct rd_hop_end *hop_end, const struct rd_order *order, struct rd_error *error) {
  if (order->type == RD_ORDER_ABORT || order->type == RD_ORDER_LOST) {
    rd_error_set(error, order->code, "%s", order->words);
    return false;
  }
  if (order->type == RD_ORDER_OPEN) return open_hop_end(hop_end, &order->settings, error);
  if (hop_end->joined) { // another way to connect, on its way when this one was found
    rd_transport_destroy(order->transport);
    return true;
  }
  if (hop_end->connect == NULL) {
    rd_transport_destroy(order->transport);
    rd_error_set(error, RD_CODE_USAGE, "an order came before open");
    return false;
  }
  if (order->type == RD_ORDER_LISTEN) {
    listen_now(hop_end, &order->listen);
    return true;
  }
  bool begun = order->type == RD_ORDER_DIAL
                   ? rd_connect_dial(hop_end->connect, order->addresses, order->address_count, error)
                   : rd_connect_adopt(hop_end->connect, order->transport, order->is_dialer, error);
  if (!begun) tell_dial_failed(hop_end, error);
  return true;
}

bool rd_hop_end_connect(struct rd_hop_end *hop_end, struct rd_error *error) {
  if (hop_end->connect == NULL) return true;
  keep_time(hop_end);
  if (hop_end->connection != NULL && !look_for_silence(hop_end, error)) return false;
  if (hop_end->connection != NULL && !hop_end->connect_due) return true;
  return go_on_connecting(hop_end, error);
}

bool rd_hop_end_mend(struct rd_hop_end *hop_end, const struct rd_error *error) {
  if (!rd_code_is_loss(error->code) || !rd_connect_again(hop_end->connect)) return false;
  int64_t now_ms = rd_now_ms();
  int64_t until_ms = hop_end->lived_at_ms + hop_end->settings.stall_timeout_ms;
  bool soon = error->code == RD_CODE_PEER_CLOSED && now_ms + CLOSED_MS_TO_MEND < until_ms;
  hop_end->mended_until_ms = soon ? now_ms + CLOSED_MS_TO_MEND : until_ms;
  hop_end->broken = *error;
  part(hop_end);
  struct rd_event event = {.type = RD_EVENT_BROKEN, .error = error};
  hop_end->control->ops->tell(hop_end->control, &event);
  return true;
}

void rd_hop_end_tell_resumed(struct rd_hop_end *hop_end, uint64_t offset) {
  struct rd_event event = {
      .type = RD_EVENT_RESUMED, .epoch = rd_connection_epoch(hop_end->connection), .bytes = offset};
  hop_end->control->ops->tell(hop_end->control, &event);
}

void rd_hop_end_wait(struct rd_hop_end *hop_end, struct pollfd *own, size_t own_count, int64_t most_ns,
                     enum rd_wait wait) {
  struct pollfd polls[3 + RD_HOP_END_WAITS_MOST + RD_CONNECT_POLLS_MOST];
  size_t count = 0;
  polls[count++] = hop_end->control->ops->poll(hop_end->control);
  for (size_t i = 0; i < own_count; i++) polls[count++] = own[i];
  int64_t timeout_ns = sooner(most_ns, rd_ns_of_ms(rd_meter_timeout_ms(&hop_end->meter)));
  size_t of_connection = count;
  if (hop_end->connection != NULL) {
    polls[count++] = (struct pollfd){.fd = rd_connection_poll_fd(hop_end->connection),
                                     .events = rd_connection_poll_events(hop_end->connection)};
    polls[count++] = (struct pollfd){.fd = rd_connection_work_fd(hop_end->connection), .events = POLLIN};
    timeout_ns = sooner(timeout_ns, rd_ns_of_ms(rd_connection_timeout_ms(hop_end->connection)));
  }
  size_t first_of_connect = count;
  if (hop_end->connect != NULL) {
    count += rd_connect_polls(hop_end->connect, polls + count);
    timeout_ns = sooner(timeout_ns, rd_ns_of_ms(rd_connect_timeout_ms(hop_end->connect)));
  }
  int64_t before_ns = rd_now_ns();
  // Who polls must not keep a processor from those for whom it does.
  if (hop_end->settings.poll) sched_yield();
  struct timespec timeout = {.tv_sec = timeout_ns / RD_NS_A_SECOND, .tv_nsec = timeout_ns % RD_NS_A_SECOND};
  ppoll(polls, count, timeout_ns < 0 ? NULL : &timeout, NULL);
  for (size_t i = 0; i < own_count; i++) own[i].revents = polls[1 + i].revents;
  if (polls[0].revents != 0) hop_end->control->due = true;
  if (hop_end->connection != NULL && polls[of_connection].revents == 0) rd_connection_quiet(hop_end->connection);
  if (hop_end->connection != NULL && polls[of_connection + 1].revents != 0) rd_connection_worked(hop_end->connection);
  hop_end->connect_due = hop_end->connect != NULL && rd_connect_timeout_ms(hop_end->connect) == 0;
  for (size_t i = first_of_connect; i < count; i++) hop_end->connect_due |= polls[i].revents != 0;
  if (hop_end->joined) rd_meter_add_wait(&hop_end->meter, wait, rd_now_ns() - before_ns);
}

bool rd_hop_end_take_abort(struct rd_hop_end *hop_end, const struct rd_rx_frame *rx_frame, struct rd_error *error) {
  struct rd_abort abort;
  if (!rd_abort_decode(rx_frame->payload, rx_frame->bytes, &abort, error)) return false;
  hop_end->peer_ended = true;
  rd_error_set(error, RD_CODE_ABORTED, "the other side ended it: %s", abort.words);
  return false;
}

bool rd_hop_end_out_of_place(const struct rd_rx_frame *rx_frame, struct rd_error *error) {
  rd_error_set(error, RD_CODE_DATA_DAMAGED, "a frame of type %d at offset %" PRIu64 " came out of place",
               (int)rx_frame->header.type, rx_frame->header.offset);
  return false;
}

bool rd_hop_end_farewell(struct rd_hop_end *hop_end, const struct rd_error *end) {
  struct rd_connection *connection = hop_end->connection;
  bool is_sender = hop_end->role == RD_ROLE_SENDER;
  bool is_gone = rd_code_is_loss(end->code) || end->code == RD_CODE_PEER_STALLED;
  bool is_good = end->code == RD_CODE_OK || end->code == RD_CODE_CLOSED;
  uint64_t bytes = hop_end->meter.bytes;
  struct rd_error lost;
  if (connection == NULL || is_gone || (hop_end->peer_ended && !(is_good && is_sender))) {
    // nothing to say
  } else if (is_good && is_sender) {
    rd_connection_say_last(connection, RD_FRAME_BYE, bytes, NULL, 0, FAREWELL_MS, &lost);
  } else if (end->code == RD_CODE_CLOSED) {
    return rd_connection_say_last(connection, RD_FRAME_CLOSED, bytes, NULL, 0, CLOSED_MS, &lost) ||
           !rd_hop_end_mend(hop_end, &lost);
  } else if (end->code != RD_CODE_OK) {
    struct rd_abort abort = {.code = end->code};
    unsigned char payload[RD_CONTROL_PAYLOAD_MAX_BYTES];
    snprintf(abort.words, sizeof abort.words, "%s", end->message);
    size_t payload_bytes = rd_abort_encode(&abort, payload);
    rd_connection_say_last(connection, RD_FRAME_ABORT, bytes, payload, payload_bytes, FAREWELL_MS, &lost);
  }
  return true;
}

void rd_hop_end_tell_counters(struct rd_hop_end *hop_end, bool last) {
  read_meters(hop_end);
  rd_meter_tell(&hop_end->meter, hop_end->control, last);
}

void rd_hop_end_finish(struct rd_hop_end *hop_end, const struct rd_error *end) {
  rd_hop_end_tell_counters(hop_end, true);
  struct rd_event event = {.type = RD_EVENT_FINISHED,
                           .error = end,
                           .bytes = hop_end->meter.bytes,
                           .wire_bytes = hop_end->meter.wire_bytes,
                           .usage = rd_usage_so_far()};
  hop_end->control->ops->tell(hop_end->control, &event);
}

static bool open_hop_end(struct rd_hop_end *hop_end, const struct rd_settings *settings, struct rd_error *error) {
  if (hop_end->opened) {
    rd_error_set(error, RD_CODE_USAGE, "open came twice");
    return false;
  }
  hop_end->opened = true;
  hop_end->settings = *settings;
  settings = &hop_end->settings;
  struct rd_connect_config config = {
      .identity = {.key = settings->key, .hop = settings->hop},
      .role = hop_end->role,
      .encrypt = settings->encrypt,
      .buffer_bytes = hop_end->role == RD_ROLE_RECEIVER ? settings->buffer_bytes : 0,
      .stall_timeout_ms = settings->stall_timeout_ms,
      .compress_level = settings->compress_level,
      .jobs = settings->jobs,
      .dialer = {.timeout_ms = settings->connect_timeout_ms,
                 .retry_refused = settings->retry_refused,
                 .rdma_first = settings->rdma_first,
                 .poll = settings->poll},
      .turned_away = tell_turned_away,
      .settle = settings->numa ? settle : NULL,
      .context = hop_end,
  };
  snprintf(config.identity.run, sizeof config.identity.run, "%s", settings->run);
  hop_end->connect = rd_connect_create(&config, error);
  return hop_end->connect != NULL;
}

static bool go_on_connecting(struct rd_hop_end *hop_end, struct rd_error *error) {
  switch (rd_connect_service(hop_end->connect, error)) {
  case 1:
    return take_connection(hop_end, error);
  case 0:
    return hop_end->joined ? still_mending(hop_end, error) : still_listening(hop_end, error);
  default:
    if (hop_end->joined) return refused(hop_end, error);
    tell_dial_failed(hop_end, error);
    return true;
  }
}

static void keep_time(struct rd_hop_end *hop_end) {
  int64_t now_ms = rd_now_ms(), away_ms = now_ms - hop_end->passed_at_ms;
  hop_end->passed_at_ms = now_ms;
  if (away_ms > STOPPED_AFTER_MS) {
    hop_end->lived_at_ms += away_ms;
    hop_end->mended_until_ms += away_ms;
    if (hop_end->connection != NULL) rd_connection_stood_still(hop_end->connection);
  }
  if (hop_end->connection == NULL) return;
  int64_t heard_at_ms = now_ms - rd_connection_silent_ms(hop_end->connection);
  bool moved = hop_end->moved_bytes != hop_end->moved_before_bytes;
  hop_end->moved_before_bytes = hop_end->moved_bytes;
  bool lives = moved || heard_at_ms - hop_end->taken_at_ms >= SILENT_MS;
  if (lives && heard_at_ms > hop_end->lived_at_ms) hop_end->lived_at_ms = heard_at_ms;
}

static bool look_for_silence(struct rd_hop_end *hop_end, struct rd_error *error) {
  int64_t lifeless_ms = rd_now_ms() - hop_end->lived_at_ms;
  if (lifeless_ms >= hop_end->settings.stall_timeout_ms + SILENT_MS) {
    rd_error_set(error, RD_CODE_PEER_STALLED, "nothing but greetings came from %s for %lld s",
                 rd_connection_peer(hop_end->connection), (long long)lifeless_ms / 1000);
    return false;
  }
  int64_t long_ms = SILENT_MS + SILENT_ROUND_TRIPS * (int64_t)rd_connection_rtt_us(hop_end->connection) / 1000;
  if (rd_connection_silent_ms(hop_end->connection) < long_ms)
    rd_connect_rest(hop_end->connect);
  else if (rd_now_ms() - hop_end->refused_at_ms >= long_ms && rd_connect_again(hop_end->connect))
    hop_end->connect_due = true;
  return true;
}

// The device may not have memory for two connections.
static bool take_connection(struct rd_hop_end *hop_end, struct rd_error *error) {
  part(hop_end);
  int taken = rd_connect_take(hop_end->connect, &hop_end->connection, error);
  if (taken <= 0) return taken == 0;
  enum rd_protection protection = rd_connection_agreement(hop_end->connection)->protection;
  if (hop_end->joined && protection != hop_end->protection) {
    rd_error_set(error, RD_CODE_DATA_DAMAGED, "%s came back with another encryption",
                 rd_connection_peer(hop_end->connection));
    return false;
  }
  hop_end->taken_at_ms = rd_now_ms();
  if (!hop_end->joined) {
    hop_end->lived_at_ms = hop_end->taken_at_ms;
    tell_connected(hop_end);
  }
  hop_end->joined = true;
  hop_end->protection = protection;
  return true;
}

// Nobody listens there any more, or somebody else does. A connection that is only silent may still have something to
// say.
static bool refused(struct rd_hop_end *hop_end, struct rd_error *error) {
  struct rd_error why = *error;
  hop_end->refused_at_ms = rd_now_ms();
  if (hop_end->connection != NULL) return true;
  rd_error_set(error, RD_CODE_PEER_LOST, "%s, and the other side is gone: %s", hop_end->broken.message, why.message);
  return false;
}

static bool still_mending(struct rd_hop_end *hop_end, struct rd_error *error) {
  if (hop_end->connection != NULL || rd_now_ms() < hop_end->mended_until_ms) return true;
  rd_error_set(error, RD_CODE_PEER_LOST, "%s, and it could not be made again in time", hop_end->broken.message);
  return false;
}

static void part(struct rd_hop_end *hop_end) {
  struct rd_connection *connection = hop_end->connection;
  read_meters(hop_end);
  hop_end->wire_bytes = hop_end->meter.wire_bytes;
  hop_end->connection = NULL;
  if (connection != NULL) hop_end->let_go(hop_end->context, connection);
}

// What the connection counted itself.
static void read_meters(struct rd_hop_end *hop_end) {
  if (hop_end->connection == NULL) return;
  hop_end->meter.rtt_us = rd_connection_rtt_us(hop_end->connection);
  hop_end->meter.wire_bytes = hop_end->wire_bytes + rd_connection_wire_bytes(hop_end->connection);
}

static void tell_turned_away(void *context, const char *peer, const struct rd_error *why) {
  struct rd_hop_end *hop_end = context;
  struct rd_event event = {.type = RD_EVENT_TURNED_AWAY, .peer = peer, .error = why};
  hop_end->control->ops->tell(hop_end->control, &event);
}

// Once: the threads that were started then stay there.
static void settle(void *context, const char *device) {
  struct rd_hop_end *hop_end = context;
  if (!hop_end->settled) hop_end->has_node = rd_numa_go_to(device, &hop_end->node);
  hop_end->settled = true;
}

static void listen_now(struct rd_hop_end *hop_end, const struct rd_listen_order *order) {
  const struct rd_settings *settings = &hop_end->settings;
  struct rd_listen listen = {.rdma = order->rdma, .port_low = settings->port_low, .port_high = settings->port_high};
  if (order->port > 0) listen.port_low = listen.port_high = order->port;
  snprintf(listen.bind_host, sizeof listen.bind_host, "%s", order->has_bind ? order->bind_host : settings->bind_host);
  struct rd_error error;
  struct rd_event event = {.type = RD_EVENT_LISTENING, .rdma = order->rdma, .error = &error};
  if (!rd_connect_listen(hop_end->connect, &listen, &event.port, &error)) event.type = RD_EVENT_LISTEN_FAILED;
  if (settings->listen_timeout_ms > 0) hop_end->listen_until_ms = rd_now_ms() + settings->listen_timeout_ms;
  hop_end->control->ops->tell(hop_end->control, &event);
}

static void tell_dial_failed(struct rd_hop_end *hop_end, const struct rd_error *error) {
  struct rd_event event = {.type = RD_EVENT_DIAL_FAILED, .error = error};
  hop_end->control->ops->tell(hop_end->control, &event);
}

static void tell_connected(struct rd_hop_end *hop_end) {
  const struct rd_connection *connection = hop_end->connection;
  size_t wanted_bytes = hop_end->settings.buffer_bytes, got_bytes = size_buffer(hop_end);
  char note[NOTE_BYTES];
  rd_window_note(wanted_bytes, got_bytes, note, sizeof note);
  struct rd_event event = {
      .type = RD_EVENT_CONNECTED,
      .transport = rd_connection_transport(connection),
      .cipher = rd_connection_cipher(connection),
      .local = rd_connection_local(connection),
      .peer = rd_connection_peer(connection),
      .device = rd_connection_device(connection),
      .numa_node = hop_end->has_node ? &hop_end->node : NULL,
      .note = got_bytes < wanted_bytes ? note : NULL,
  };
  hop_end->control->ops->tell(hop_end->control, &event);
}

// What there is of the buffer: the sender's ring, or the receiver's slots.
static size_t size_buffer(struct rd_hop_end *hop_end) {
  size_t wanted_bytes = hop_end->settings.buffer_bytes;
  const struct rd_hello *mine = &rd_connection_agreement(hop_end->connection)->mine;
  struct rd_window wanted = rd_window_of(wanted_bytes, false),
                   got = {.slots = mine->slots, .slot_bytes = mine->slot_bytes};
  size_t most_bytes = rd_connection_register_most_bytes(hop_end->connection);
  most_bytes -= most_bytes % RING_UNIT_BYTES;
  hop_end->ring_bytes = most_bytes < wanted_bytes ? most_bytes : wanted_bytes;
  if (hop_end->role == RD_ROLE_SENDER) return hop_end->ring_bytes;
  return rd_window_bytes(&got) < rd_window_bytes(&wanted) ? rd_window_bytes(&got) : wanted_bytes;
}

static bool still_listening(const struct rd_hop_end *hop_end, struct rd_error *error) {
  if (hop_end->listen_until_ms == 0 || rd_now_ms() < hop_end->listen_until_ms) return true;
  rd_error_set(error, RD_CODE_CANNOT_CONNECT, "nobody came in %g s (--connect-timeout 0 waits for ever)",
               (double)hop_end->settings.listen_timeout_ms / 1000);
  return false;
}

// -1: never.
static int64_t sooner(int64_t first_ns, int64_t second_ns) {
  if (first_ns < 0) return second_ns;
  return second_ns < 0 || first_ns < second_ns ? first_ns : second_ns;
}
