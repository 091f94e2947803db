// SPDX-License-Identifier: Apache-2.0
#include "conn/connection.h"

#include "base/io.h"
#include "base/memory.h"
#include "base/pages.h"
#include "conn/keepalive.h"
#include "conn/rx.h"
#include "conn/tx.h"

#include <poll.h>
#include <stdlib.h>

#define RING_MIN_PAGES 2u

struct rd_connection {
  struct rd_transport *transport;
  struct rd_agreement agreement;
  bool poll;
  bool congestion;
  bool is_measured; // the round trips of a sender
  struct rd_registered registered;
  struct rd_tx tx;
  struct rd_rx rx;
  struct rd_keepalive keepalive;
};

static bool begin(struct rd_connection *connection, const struct rd_connection_settings *settings,
                  struct rd_error *error);
static bool has_room(const struct rd_connection *connection, struct rd_error *error);
static void adapt_to_path(struct rd_connection *connection);
static bool send_keepalive(struct rd_connection *connection, struct rd_error *error);
static bool polls_again(const struct rd_connection *connection);

struct rd_connection *rd_connection_create(struct rd_transport *transport, const struct rd_agreement *agreement,
                                           const struct rd_connection_settings *settings, struct rd_error *error) {
  struct rd_connection *connection = rd_memory_new(1, sizeof *connection);
  connection->transport = transport;
  connection->agreement = *agreement;
  connection->poll = settings->poll;
  connection->congestion = settings->congestion;
  rd_keepalive_start(&connection->keepalive, settings->stall_timeout_ms, rd_now_ms());
  transport->ops->expect_releases(transport, false);
  if (begin(connection, settings, error)) return connection;
  rd_connection_destroy(connection);
  return NULL;
}

void rd_connection_destroy(struct rd_connection *connection) {
  if (connection == NULL) return;
  // Threads first: they use the keys and the transport's memory.
  rd_tx_stop(&connection->tx);
  rd_rx_stop(&connection->rx);
  rd_transport_destroy(connection->transport);
  rd_seal_destroy(connection->agreement.outgoing);
  rd_seal_destroy(connection->agreement.incoming);
  rd_tx_free(&connection->tx);
  rd_rx_free(&connection->rx);
  free(connection);
}

void rd_connection_disconnect(struct rd_connection *connection) {
  rd_rx_stop(&connection->rx);
  connection->transport->ops->disconnect(connection->transport);
}

uint32_t rd_connection_epoch(const struct rd_connection *connection) {
  return connection->agreement.mine.epoch;
}

// On a slow line one message may take long: the transport counts its bytes, and is asked only in this case.
int64_t rd_connection_silent_ms(const struct rd_connection *connection) {
  int64_t silent_ms = rd_now_ms() - connection->keepalive.received_at_ms;
  if (silent_ms < RD_PING_AFTER_MS) return silent_ms;
  int64_t quiet_ms = connection->transport->ops->silent_ms(connection->transport);
  return quiet_ms < silent_ms ? quiet_ms : silent_ms;
}

void rd_connection_resumed(struct rd_connection *connection) {
  connection->keepalive.received_at_ms = rd_now_ms();
}

bool rd_connection_join(struct rd_connection *connection, struct rd_transport *lane) {
  struct rd_error ignored;
  return connection->transport->ops->join(connection->transport, lane, &ignored);
}

void rd_connection_choose(struct rd_connection *connection) {
  struct rd_error ignored; // a failure is noticed when the connection is used
  rd_keepalive_measure(&connection->keepalive);
  (void)rd_connection_flush(connection, &ignored);
}

uint32_t rd_connection_rtt_us(const struct rd_connection *connection) {
  return connection->keepalive.rtt_us;
}

void rd_connection_limits(const struct rd_connection *connection, struct rd_limits *limits) {
  connection->transport->ops->limits(connection->transport, limits);
}

uint64_t rd_connection_wire_bytes(const struct rd_connection *connection) {
  return connection->tx.wire_bytes + connection->rx.wire_bytes;
}

bool rd_connection_is_working(const struct rd_connection *connection) {
  return rd_rx_is_working(&connection->rx) || rd_tx_is_working(&connection->tx);
}

size_t rd_connection_data_most_bytes(const struct rd_connection *connection) {
  return connection->tx.data_most_bytes;
}

size_t rd_connection_window_most_bytes(const struct rd_transport *transport) {
  size_t most_bytes = transport->ops->memory_most_bytes(transport);
  if (most_bytes == SIZE_MAX) return SIZE_MAX;
  size_t own_bytes = rd_tx_own_bytes();
  return most_bytes > own_bytes ? most_bytes - own_bytes : 0;
}

// With sealing, frames are sent from the scratch memory, so there is no limit.
size_t rd_connection_register_most_bytes(const struct rd_connection *connection) {
  return connection->agreement.protection == RD_PROTECTION_SEAL ? SIZE_MAX : connection->registered.left_bytes;
}

bool rd_connection_register(struct rd_connection *connection, const void *memory, size_t bytes,
                            struct rd_error *error) {
  if (connection->agreement.protection == RD_PROTECTION_SEAL) return true;
  return rd_registered_add(&connection->registered, memory, bytes, error);
}

enum rd_outcome rd_connection_send(struct rd_connection *connection, enum rd_frame_type type, uint64_t offset,
                                   const unsigned char *payload, size_t bytes, struct rd_error *error) {
  enum rd_outcome sent = rd_tx_send(&connection->tx, type, offset, payload, bytes, error);
  if (sent == RD_OUTCOME_AGAIN) connection->transport->ops->expect_releases(connection->transport, true);
  return sent;
}

bool rd_connection_flush(struct rd_connection *connection, struct rd_error *error) {
  struct rd_transport *transport = connection->transport;
  if (!transport->ops->flush(transport, error) || !rd_tx_offer(&connection->tx, error)) return false;
  return send_keepalive(connection, error) && transport->ops->flush(transport, error);
}

bool rd_connection_drained(struct rd_connection *connection) {
  struct rd_transport *transport = connection->transport;
  bool drained = rd_tx_is_drained(&connection->tx);
  if (!drained) transport->ops->expect_releases(transport, true);
  return drained;
}

enum rd_outcome rd_connection_receive(struct rd_connection *connection, struct rd_rx_frame *rx_frame,
                                      struct rd_error *error) {
  for (;;) {
    enum rd_outcome received = rd_rx_receive(&connection->rx, rx_frame, error);
    if (received != RD_OUTCOME_DONE) return received;
    if (!rd_keepalive_take(&connection->keepalive, &rx_frame->header, rd_now_ns())) return RD_OUTCOME_DONE;
    rd_connection_give_back(connection, rx_frame);
    adapt_to_path(connection);
  }
}

void rd_connection_quiet(struct rd_connection *connection) {
  connection->transport->ops->quiet(connection->transport);
}

void rd_connection_give_back(struct rd_connection *connection, const struct rd_rx_frame *rx_frame) {
  rd_rx_give_back(&connection->rx, rx_frame);
}

bool rd_connection_tick(struct rd_connection *connection, struct rd_error *error) {
  int64_t now_ms = rd_now_ms();
  if (rd_keepalive_tick(&connection->keepalive, now_ms))
    return !connection->keepalive.ping_pending || rd_connection_flush(connection, error);
  int64_t silent_ms = rd_connection_silent_ms(connection);
  if (silent_ms < connection->keepalive.stall_timeout_ms) {
    connection->keepalive.received_at_ms = now_ms - silent_ms;
    return true;
  }
  rd_error_set(error, RD_CODE_PEER_STALLED, "received nothing from %s for %lld s", rd_connection_peer(connection),
               (long long)(now_ms - connection->keepalive.received_at_ms) / 1000);
  return false;
}

int rd_connection_timeout_ms(const struct rd_connection *connection) {
  return polls_again(connection) ? 0 : rd_keepalive_timeout_ms(&connection->keepalive, rd_now_ms());
}

bool rd_connection_send_final(struct rd_connection *connection, enum rd_frame_type type, uint64_t offset,
                              const unsigned char *payload, size_t bytes, int64_t most_ms, struct rd_error *error) {
  int64_t until_ms = rd_now_ms() + most_ms;
  struct rd_rx_frame rx_frame;
  enum rd_outcome sent = RD_OUTCOME_AGAIN;
  rd_tx_close(&connection->tx);
  rd_rx_close(&connection->rx);
  for (;;) {
    if (sent == RD_OUTCOME_AGAIN) sent = rd_connection_send(connection, type, offset, payload, bytes, error);
    if (sent == RD_OUTCOME_FAILED || !rd_connection_flush(connection, error)) return false;
    enum rd_outcome received;
    while ((received = rd_connection_receive(connection, &rx_frame, error)) == RD_OUTCOME_DONE) {
      if (rx_frame.header.type == RD_FRAME_BYE || rx_frame.header.type == RD_FRAME_ABORT) return true;
      rd_connection_give_back(connection, &rx_frame);
    }
    int64_t left_ms = until_ms - rd_now_ms();
    if (received == RD_OUTCOME_FAILED) return false;
    if (left_ms <= 0) return true;
    rd_wait_fd(rd_connection_poll_fd(connection), rd_connection_poll_events(connection),
               polls_again(connection) ? 0 : (int)left_ms);
  }
}

int rd_connection_poll_fd(const struct rd_connection *connection) {
  return connection->transport->ops->poll_fd(connection->transport);
}

short rd_connection_poll_events(const struct rd_connection *connection) {
  return connection->transport->ops->poll_events(connection->transport);
}

int rd_connection_work_fd(const struct rd_connection *connection) {
  const struct rd_encoder *encoder = connection->tx.encoder;
  const struct rd_decoder *decoder = connection->rx.decoder;
  if (encoder != NULL) return rd_encoder_poll_fd(encoder);
  return decoder != NULL ? rd_decoder_poll_fd(decoder) : -1;
}

void rd_connection_worked(struct rd_connection *connection) {
  if (connection->tx.encoder != NULL) rd_encoder_woken(connection->tx.encoder);
  if (connection->rx.decoder != NULL) rd_decoder_woken(connection->rx.decoder);
}

const struct rd_agreement *rd_connection_agreement(const struct rd_connection *connection) {
  return &connection->agreement;
}

const char *rd_connection_transport(const struct rd_connection *connection) {
  return connection->transport->ops->name;
}

const char *rd_connection_cipher(const struct rd_connection *connection) {
  return connection->agreement.cipher_name;
}

const char *rd_connection_local(const struct rd_connection *connection) {
  return connection->transport->ops->local_name(connection->transport);
}

const char *rd_connection_peer(const struct rd_connection *connection) {
  return connection->transport->ops->peer_name(connection->transport);
}

const char *rd_connection_device(const struct rd_connection *connection) {
  return connection->transport->ops->device_name(connection->transport);
}

static bool begin(struct rd_connection *connection, const struct rd_connection_settings *settings,
                  struct rd_error *error) {
  bool receives = connection->agreement.mine.slots > 0; // and has received the PING that chose this connection
  if (connection->agreement.lanes > 1)
    connection->transport->ops->expect_lanes(connection->transport, connection->agreement.lanes, receives ? 1 : 0);
  const struct rd_agreement *agreement = &connection->agreement;
  const struct rd_window window = {.slots = agreement->mine.slots, .slot_bytes = agreement->mine.slot_bytes};
  struct rd_registered *registered = &connection->registered;
  rd_registered_init(registered, connection->transport, &window);
  return rd_rx_begin(&connection->rx, connection->transport, agreement, settings->jobs, error) &&
         rd_tx_begin(&connection->tx, registered, agreement, settings->compress_level, settings->jobs, error) &&
         has_room(connection, error);
}

// A sender needs memory to send from, unless it seals into the scratch memory.
static bool has_room(const struct rd_connection *connection, struct rd_error *error) {
  if (connection->agreement.mine.slots > 0 ||
      rd_connection_register_most_bytes(connection) >= RING_MIN_PAGES * rd_page_bytes())
    return true;
  rd_window_too_small(error);
  return false;
}

// The first round trips of a sender are measured: then the shortest is known.
static void adapt_to_path(struct rd_connection *connection) {
  const struct rd_hello *peer = &connection->agreement.peer;
  if (connection->is_measured || connection->agreement.mine.slots > 0 || connection->keepalive.rtt_us == 0 ||
      connection->keepalive.to_measure > 0)
    return;
  connection->is_measured = true;
  if (connection->keepalive.rtt_us < RD_LONG_PATH_US) return;
  connection->transport->ops->tune_long_path(connection->transport, (size_t)peer->slots * peer->slot_bytes,
                                             connection->congestion);
}

// Sends PONG and PING if they are due and can be sent now.
static bool send_keepalive(struct rd_connection *connection, struct rd_error *error) {
  struct rd_keepalive *keepalive = &connection->keepalive;
  if (keepalive->pong_pending) {
    enum rd_outcome sent = rd_connection_send(connection, RD_FRAME_PONG, keepalive->pong_number, NULL, 0, error);
    if (sent == RD_OUTCOME_FAILED) return false;
    keepalive->pong_pending = sent == RD_OUTCOME_AGAIN;
  }
  if (keepalive->ping_pending) {
    enum rd_outcome sent = rd_connection_send(connection, RD_FRAME_PING, keepalive->pings, NULL, 0, error);
    if (sent == RD_OUTCOME_FAILED) return false;
    if (sent == RD_OUTCOME_DONE) rd_keepalive_pinged(keepalive, rd_now_ns());
  }
  return true;
}

// Returns true if the loop should receive again without waiting for the descriptor.
static bool polls_again(const struct rd_connection *connection) {
  return connection->poll || connection->rx.has_more;
}
