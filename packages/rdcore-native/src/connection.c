// SPDX-License-Identifier: Apache-2.0
#include "connection.h"

#include "io.h"

#include <poll.h>
#include <stdlib.h>
#include <string.h>

// Messages whose headers may be on their way at a time.
#define OUTGOING_MOST 64u
// Sealed DATA needs memory of its own until the transport is done with it: few, so that they stay in the cache.
#define SCRATCH_MOST 4u
// Slots for frames other than DATA: they are given back at once, so one on its way and one in hand are enough.
#define CONTROL_SLOTS 2u
// A loop that did not come by for so long was stopped (SIGSTOP, a suspended machine).
#define STOPPED_AFTER_MS 2000
#define EPOCH 1u

struct outgoing {
  unsigned char header[RD_HEADER_BYTES];
  unsigned char sealed[RD_CONTROL_PAYLOAD_MAX_BYTES + RD_TAG_BYTES];
};

struct scratch {
  unsigned char *bytes;
  uint64_t free_after; // released() count
};

struct rd_connection {
  struct rd_transport *transport;
  struct rd_agreement agreement;

  struct outgoing outgoing[OUTGOING_MOST]; // of message n: n % OUTGOING_MOST
  struct scratch scratch[SCRATCH_MOST];
  size_t scratch_bytes;
  uint64_t accepted; // messages, by the transport
  // A message that was sealed, and so has its place in the sequence, but that the transport would not take yet.
  struct iovec staged[2];
  bool is_staged;

  int64_t stall_timeout_ms;
  int64_t heard_at_ms;
  int64_t pinged_at_ms;
  int64_t ticked_at_ms;
  uint64_t pings;
  bool owes_pong;
  uint64_t pong_number;
};

static bool offer_staged(struct rd_connection *connection, struct rd_error *error);
static struct outgoing *free_outgoing(struct rd_connection *connection);
static bool stage_plain(struct rd_connection *connection, struct outgoing *outgoing, const struct rd_frame *frame,
                        const unsigned char *payload, size_t bytes);
static int stage_sealed(struct rd_connection *connection, struct outgoing *outgoing, struct rd_frame *frame,
                        const unsigned char *payload, size_t bytes, struct rd_error *error);
static struct scratch *free_scratch(struct rd_connection *connection, size_t bytes);
static bool open_frame(struct rd_connection *connection, struct rd_arrival *arrival, struct rd_error *error);
static bool is_life_sign(struct rd_connection *connection, const struct rd_arrival *arrival);

struct rd_connection *rd_connection_create(struct rd_transport *transport, const struct rd_agreement *agreement,
                                           unsigned slots, size_t payload_bytes, int64_t stall_timeout_ms,
                                           struct rd_error *error) {
  struct rd_connection *connection = calloc(1, sizeof *connection);
  if (connection == NULL) {
    rd_error_set(error, RD_CODE_INTERNAL, "no memory for a connection");
    rd_transport_destroy(transport);
    rd_seal_destroy(agreement->outgoing);
    rd_seal_destroy(agreement->incoming);
    return NULL;
  }
  connection->transport = transport;
  connection->agreement = *agreement;
  connection->scratch_bytes = agreement->peer.slot_bytes;
  connection->accepted = transport->ops->released(transport); // those of the handshake
  connection->stall_timeout_ms = stall_timeout_ms;
  connection->heard_at_ms = connection->ticked_at_ms = rd_now_ms();
  size_t most_bytes = payload_bytes > RD_CONTROL_PAYLOAD_MAX_BYTES ? payload_bytes : RD_CONTROL_PAYLOAD_MAX_BYTES;
  if (!transport->ops->arm(transport, slots + CONTROL_SLOTS, most_bytes, error)) {
    rd_connection_destroy(connection);
    return NULL;
  }
  return connection;
}

void rd_connection_destroy(struct rd_connection *connection) {
  if (connection == NULL) return;
  rd_transport_destroy(connection->transport);
  rd_seal_destroy(connection->agreement.outgoing);
  rd_seal_destroy(connection->agreement.incoming);
  for (unsigned i = 0; i < SCRATCH_MOST; i++) free(connection->scratch[i].bytes);
  free(connection);
}

int rd_connection_send(struct rd_connection *connection, enum rd_frame_type type, uint64_t offset,
                       const unsigned char *payload, size_t bytes, struct rd_error *error) {
  if (!offer_staged(connection, error)) return -1;
  struct outgoing *outgoing = connection->is_staged ? NULL : free_outgoing(connection);
  if (outgoing == NULL) return 0;
  struct rd_frame frame = {.type = type, .epoch = EPOCH, .offset = offset};
  if (type == RD_FRAME_DATA && !connection->agreement.sealed) {
    connection->is_staged = stage_plain(connection, outgoing, &frame, payload, bytes);
  } else {
    int staged = stage_sealed(connection, outgoing, &frame, payload, bytes, error);
    if (staged <= 0) return staged;
    connection->is_staged = true;
  }
  return offer_staged(connection, error) ? 1 : -1;
}

bool rd_connection_flush(struct rd_connection *connection, struct rd_error *error) {
  struct rd_transport *transport = connection->transport;
  if (!transport->ops->flush(transport, error) || !offer_staged(connection, error)) return false;
  if (connection->owes_pong) {
    int sent = rd_connection_send(connection, RD_FRAME_PONG, connection->pong_number, NULL, 0, error);
    if (sent < 0) return false;
    connection->owes_pong = sent == 0;
  }
  return transport->ops->flush(transport, error);
}

bool rd_connection_drained(const struct rd_connection *connection) {
  const struct rd_transport *transport = connection->transport;
  return !connection->is_staged && transport->ops->released(transport) == connection->accepted;
}

int rd_connection_receive(struct rd_connection *connection, struct rd_arrival *arrival, struct rd_error *error) {
  struct rd_transport *transport = connection->transport;
  for (;;) {
    int received = transport->ops->receive(transport, &arrival->message, error);
    if (received <= 0) return received;
    connection->heard_at_ms = rd_now_ms();
    if (!open_frame(connection, arrival, error)) return -1;
    if (!is_life_sign(connection, arrival)) return 1;
    rd_connection_give_back(connection, &arrival->message);
  }
}

void rd_connection_give_back(struct rd_connection *connection, const struct rd_message *message) {
  connection->transport->ops->give_back(connection->transport, message);
}

bool rd_connection_tick(struct rd_connection *connection, struct rd_error *error) {
  int64_t now_ms = rd_now_ms();
  int64_t away_ms = now_ms - connection->ticked_at_ms;
  connection->ticked_at_ms = now_ms;
  // We were stopped ourselves: that silence says nothing about the peer.
  if (away_ms > STOPPED_AFTER_MS) connection->heard_at_ms = now_ms;
  int64_t silence_ms = now_ms - connection->heard_at_ms;
  if (silence_ms >= connection->stall_timeout_ms) {
    rd_error_set(error, RD_CODE_PEER_STALLED, "nothing came from %s for %lld s", rd_connection_peer(connection),
                 (long long)(silence_ms / 1000));
    return false;
  }
  if (silence_ms < RD_PING_AFTER_MS || now_ms - connection->pinged_at_ms < RD_PING_AFTER_MS) return true;
  int sent = rd_connection_send(connection, RD_FRAME_PING, ++connection->pings, NULL, 0, error);
  if (sent > 0) connection->pinged_at_ms = now_ms;
  return sent >= 0 && rd_connection_flush(connection, error);
}

int rd_connection_timeout_ms(const struct rd_connection *connection) {
  int64_t now_ms = rd_now_ms();
  int64_t ping_at_ms = connection->heard_at_ms + RD_PING_AFTER_MS;
  int64_t again_at_ms = connection->pinged_at_ms + RD_PING_AFTER_MS;
  int64_t due_at_ms = ping_at_ms > again_at_ms ? ping_at_ms : again_at_ms;
  return due_at_ms > now_ms ? (int)(due_at_ms - now_ms) : 0;
}

void rd_connection_say_last(struct rd_connection *connection, enum rd_frame_type type, uint64_t offset,
                            const unsigned char *payload, size_t bytes, int64_t most_ms) {
  int64_t until_ms = rd_now_ms() + most_ms;
  struct rd_arrival arrival;
  struct rd_error ignored;
  int sent = 0;
  for (;;) {
    if (sent == 0) sent = rd_connection_send(connection, type, offset, payload, bytes, &ignored);
    if (sent < 0 || !rd_connection_flush(connection, &ignored)) return;
    int received;
    while ((received = rd_connection_receive(connection, &arrival, &ignored)) > 0) {
      if (arrival.frame.type == RD_FRAME_BYE || arrival.frame.type == RD_FRAME_ABORT) return;
      rd_connection_give_back(connection, &arrival.message);
    }
    int64_t left_ms = until_ms - rd_now_ms();
    if (received < 0 || left_ms <= 0) return;
    rd_wait_fd(rd_connection_poll_fd(connection), rd_connection_poll_events(connection), (int)left_ms);
  }
}

int rd_connection_poll_fd(const struct rd_connection *connection) {
  return connection->transport->ops->poll_fd(connection->transport);
}

short rd_connection_poll_events(const struct rd_connection *connection) {
  return connection->transport->ops->poll_events(connection->transport);
}

const struct rd_agreement *rd_connection_agreement(const struct rd_connection *connection) {
  return &connection->agreement;
}

const char *rd_connection_transport(const struct rd_connection *connection) {
  return connection->transport->ops->name;
}

const char *rd_connection_cipher(const struct rd_connection *connection) {
  return connection->agreement.sealed ? connection->agreement.cipher_name : "none";
}

const char *rd_connection_local(const struct rd_connection *connection) {
  return connection->transport->ops->local_name(connection->transport);
}

const char *rd_connection_peer(const struct rd_connection *connection) {
  return connection->transport->ops->peer_name(connection->transport);
}

// Hands a staged message to the transport; one refusal is followed by a flush and a second try.
static bool offer_staged(struct rd_connection *connection, struct rd_error *error) {
  struct rd_transport *transport = connection->transport;
  for (int attempt = 0; connection->is_staged && attempt < 2; attempt++) {
    if (attempt > 0 && !transport->ops->flush(transport, error)) return false;
    int sent = transport->ops->send(transport, connection->staged, 2, error);
    if (sent < 0) return false;
    if (sent == 0) continue;
    connection->is_staged = false;
    connection->accepted++;
  }
  return true;
}

static struct outgoing *free_outgoing(struct rd_connection *connection) {
  uint64_t released = connection->transport->ops->released(connection->transport);
  if (connection->accepted - released >= OUTGOING_MOST) return NULL;
  return &connection->outgoing[connection->accepted % OUTGOING_MOST];
}

static bool stage_plain(struct rd_connection *connection, struct outgoing *outgoing, const struct rd_frame *frame,
                        const unsigned char *payload, size_t bytes) {
  rd_frame_encode(frame, outgoing->header);
  connection->staged[0] = (struct iovec){outgoing->header, RD_HEADER_BYTES};
  connection->staged[1] = (struct iovec){(unsigned char *)(uintptr_t)payload, bytes};
  return true;
}

// 1 staged, 0 no memory is free now, -1 failed.
static int stage_sealed(struct rd_connection *connection, struct outgoing *outgoing, struct rd_frame *frame,
                        const unsigned char *payload, size_t bytes, struct rd_error *error) {
  unsigned char *body = outgoing->sealed;
  if (frame->type == RD_FRAME_DATA) {
    struct scratch *scratch = free_scratch(connection, bytes);
    if (scratch == NULL) return 0;
    if (scratch->bytes == NULL) {
      rd_error_set(error, RD_CODE_INTERNAL, "no memory to seal data in");
      return -1;
    }
    scratch->free_after = connection->accepted + 1;
    body = scratch->bytes;
  }
  if (!rd_seal_seal(connection->agreement.outgoing, frame, payload, bytes, outgoing->header, body, error)) return -1;
  connection->staged[0] = (struct iovec){outgoing->header, RD_HEADER_BYTES};
  connection->staged[1] = (struct iovec){body, bytes + RD_TAG_BYTES};
  return 1;
}

// NULL: all are in use. One whose `bytes` is NULL could not be had.
static struct scratch *free_scratch(struct rd_connection *connection, size_t bytes) {
  uint64_t released = connection->transport->ops->released(connection->transport);
  for (unsigned i = 0; i < SCRATCH_MOST; i++) {
    struct scratch *scratch = &connection->scratch[i];
    if (scratch->bytes != NULL && scratch->free_after > released) continue;
    if (scratch->bytes == NULL && bytes <= connection->scratch_bytes)
      scratch->bytes = malloc(connection->scratch_bytes + RD_TAG_BYTES);
    return scratch;
  }
  return NULL;
}

static bool open_frame(struct rd_connection *connection, struct rd_arrival *arrival, struct rd_error *error) {
  const struct rd_message *message = &arrival->message;
  struct rd_frame *frame = &arrival->frame;
  if (!rd_frame_decode(message->data, message->bytes, frame, error)) return false;
  bool sealed = (frame->flags & RD_FLAG_SEALED) != 0;
  bool must_be_sealed = frame->type != RD_FRAME_DATA || connection->agreement.sealed;
  if (frame->type == RD_FRAME_HANDSHAKE || frame->type == RD_FRAME_RESUME || frame->epoch != EPOCH ||
      sealed != must_be_sealed) {
    rd_error_set(error, RD_CODE_DATA_DAMAGED, "a frame of type %d came out of place", (int)frame->type);
    return false;
  }
  if (sealed) {
    return rd_seal_open(connection->agreement.incoming, message->data, message->bytes, frame, &arrival->payload,
                        &arrival->bytes, error);
  }
  arrival->payload = message->data + RD_HEADER_BYTES;
  arrival->bytes = message->bytes - RD_HEADER_BYTES;
  return true;
}

static bool is_life_sign(struct rd_connection *connection, const struct rd_arrival *arrival) {
  if (arrival->frame.type == RD_FRAME_PING) {
    connection->owes_pong = true;
    connection->pong_number = arrival->frame.offset;
  }
  return arrival->frame.type == RD_FRAME_PING || arrival->frame.type == RD_FRAME_PONG;
}
