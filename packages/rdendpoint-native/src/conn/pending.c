// SPDX-License-Identifier: Apache-2.0
#include "conn/pending.h"

#include "base/io.h"

#include <stdlib.h>
#include <string.h>

#define PAYLOAD_MAX_BYTES (RD_HANDSHAKE_MESSAGE_MAX_BYTES - RD_HEADER_BYTES)

struct rd_pending {
  struct rd_transport *transport;
  struct rd_handshake *handshake;
  enum rd_role role;
  int64_t until_ms;
  bool authenticated;
  struct rd_agreement agreement; // valid once authenticated

  // The message in flight; the transport uses this memory until it is released.
  unsigned char header[RD_HEADER_BYTES];
  unsigned char payload[PAYLOAD_MAX_BYTES];
  size_t unsent_bytes; // of a payload that the transport has not accepted yet
  uint64_t sent;
};

static enum rd_outcome do_handshake(struct rd_pending *pending, struct rd_error *error);
static enum rd_outcome take_last_message(struct rd_pending *pending, struct rd_error *error);
static enum rd_outcome await_choice(struct rd_pending *pending, struct rd_error *error);
static bool is_chosen_by(struct rd_pending *pending, const struct rd_message *message, struct rd_error *error);
static bool receive_handshake(struct rd_pending *pending, struct rd_error *error);
static bool send_handshake(struct rd_pending *pending, struct rd_error *error);
static enum rd_outcome send_payload(struct rd_pending *pending, struct rd_error *error);

struct rd_pending *rd_pending_create(struct rd_transport *transport, const struct rd_identity *identity,
                                     enum rd_role role, bool is_dialer, const struct rd_hello *mine, int64_t until_ms,
                                     struct rd_error *error) {
  struct rd_pending *pending = calloc(1, sizeof *pending);
  if (pending == NULL) {
    rd_error_set(error, RD_CODE_INTERNAL, "no memory for a connection");
    rd_transport_destroy(transport);
    return NULL;
  }
  pending->transport = transport;
  pending->role = role;
  pending->until_ms = until_ms;
  pending->handshake = rd_handshake_create(identity, role, is_dialer, mine, error);
  bool begun = pending->handshake != NULL && (!is_dialer || rd_handshake_input(pending->handshake, NULL, 0, error));
  if (begun) return pending;
  rd_pending_destroy(pending);
  return NULL;
}

void rd_pending_destroy(struct rd_pending *pending) {
  if (pending == NULL) return;
  rd_transport_destroy(pending->transport);
  rd_handshake_destroy(pending->handshake);
  rd_seal_destroy(pending->agreement.outgoing);
  rd_seal_destroy(pending->agreement.incoming);
  free(pending);
}

void rd_pending_adapt_slots(struct rd_pending *pending) {
  rd_handshake_adapt_slots(pending->handshake);
}

enum rd_outcome rd_pending_service(struct rd_pending *pending, struct rd_error *error) {
  enum rd_outcome serviced = pending->authenticated ? RD_OUTCOME_DONE : do_handshake(pending, error);
  if (serviced == RD_OUTCOME_DONE && pending->role == RD_ROLE_RECEIVER && !rd_pending_is_lane(pending))
    serviced = await_choice(pending, error);
  if (serviced != RD_OUTCOME_AGAIN || rd_now_ms() < pending->until_ms) return serviced;
  rd_error_set(error, RD_CODE_CANNOT_CONNECT, "%s did not %s in time", rd_pending_peer(pending),
               pending->authenticated ? "use its connection" : "answer the handshake");
  return RD_OUTCOME_FAILED;
}

bool rd_pending_authenticated(const struct rd_pending *pending) {
  return pending->authenticated;
}

bool rd_pending_is_lane(const struct rd_pending *pending) {
  return rd_handshake_is_lane(pending->handshake);
}

bool rd_pending_named_key(const struct rd_pending *pending) {
  return rd_handshake_named_key(pending->handshake);
}

void rd_pending_take(struct rd_pending *pending, struct rd_transport **transport, struct rd_agreement *agreement) {
  *transport = pending->transport;
  *agreement = pending->agreement;
  pending->transport = NULL;
  pending->agreement = (struct rd_agreement){.outgoing = NULL};
}

int64_t rd_pending_until_ms(const struct rd_pending *pending) {
  return pending->until_ms;
}

struct pollfd rd_pending_poll(const struct rd_pending *pending) {
  const struct rd_transport *transport = pending->transport;
  return (struct pollfd){.fd = transport->ops->poll_fd(transport), .events = transport->ops->poll_events(transport)};
}

const char *rd_pending_peer(const struct rd_pending *pending) {
  return pending->transport->ops->peer_name(pending->transport);
}

static enum rd_outcome do_handshake(struct rd_pending *pending, struct rd_error *error) {
  struct rd_error ignored;
  if (!send_handshake(pending, error)) return take_last_message(pending, error);
  if (!receive_handshake(pending, error)) {
    send_handshake(pending, &ignored); // an alert with the reason
    return RD_OUTCOME_FAILED;
  }
  if (!send_handshake(pending, error)) return RD_OUTCOME_FAILED;
  bool out = pending->unsent_bytes == 0 && pending->transport->ops->released(pending->transport) == pending->sent;
  if (!out || !rd_handshake_complete(pending->handshake)) return RD_OUTCOME_AGAIN;
  pending->authenticated = rd_handshake_take(pending->handshake, &pending->agreement, error);
  return pending->authenticated ? RD_OUTCOME_DONE : RD_OUTCOME_FAILED;
}

// The peer's last message explains more than the end of the connection does. Returns FAILED.
static enum rd_outcome take_last_message(struct rd_pending *pending, struct rd_error *error) {
  struct rd_error last;
  if (rd_code_is_loss(error->code) && !receive_handshake(pending, &last) && !rd_code_is_loss(last.code)) *error = last;
  return RD_OUTCOME_FAILED;
}

// Takes only one frame: the next one may need the memory for data.
static enum rd_outcome await_choice(struct rd_pending *pending, struct rd_error *error) {
  struct rd_transport *transport = pending->transport;
  struct rd_message message;
  enum rd_outcome received = transport->ops->receive(transport, &message, error);
  if (received != RD_OUTCOME_DONE) return received;
  bool chosen = is_chosen_by(pending, &message, error);
  transport->ops->give_back(transport, &message);
  return chosen ? RD_OUTCOME_DONE : RD_OUTCOME_FAILED;
}

static bool is_chosen_by(struct rd_pending *pending, const struct rd_message *message, struct rd_error *error) {
  struct rd_frame frame;
  unsigned char *payload;
  size_t bytes;
  if (!rd_frame_decode(message->data, message->bytes, &frame, error)) return false;
  bool sealed = (frame.flags & RD_FLAG_SEALED) != 0;
  if (frame.type != RD_FRAME_PING || !sealed || frame.epoch != pending->agreement.peer.epoch) {
    rd_error_set(error, RD_CODE_DATA_DAMAGED, "%s sent a frame other than the PING that selects this connection",
                 rd_pending_peer(pending));
    return false;
  }
  return rd_seal_open(pending->agreement.incoming, message->data, message->bytes, &frame, &payload, &bytes, error);
}

// Messages after the handshake belong to the connection and stay in the transport.
static bool receive_handshake(struct rd_pending *pending, struct rd_error *error) {
  struct rd_transport *transport = pending->transport;
  while (!rd_handshake_complete(pending->handshake)) {
    struct rd_message message;
    enum rd_outcome received = transport->ops->receive(transport, &message, error);
    if (received != RD_OUTCOME_DONE) return received == RD_OUTCOME_AGAIN;
    struct rd_frame frame;
    bool good = rd_frame_decode(message.data, message.bytes, &frame, error);
    if (good && frame.type != RD_FRAME_HANDSHAKE) {
      rd_error_set(error, RD_CODE_DATA_DAMAGED, "%s sent a frame that is not part of a handshake",
                   rd_pending_peer(pending));
      good = false;
    }
    good = good && rd_handshake_input(pending->handshake, message.data + RD_HEADER_BYTES,
                                      message.bytes - RD_HEADER_BYTES, error);
    transport->ops->give_back(transport, &message);
    if (!good) return false;
    // Even if the peer is gone, there may be more to receive.
    if (!send_handshake(pending, error) && !rd_code_is_loss(error->code)) return false;
  }
  return true;
}

static bool send_handshake(struct rd_pending *pending, struct rd_error *error) {
  struct rd_transport *transport = pending->transport;
  for (;;) {
    if (!transport->ops->flush(transport, error)) return false;
    if (transport->ops->released(transport) != pending->sent) return true;
    if (pending->unsent_bytes == 0) {
      pending->unsent_bytes = rd_handshake_output(pending->handshake, pending->payload, sizeof pending->payload);
      if (pending->unsent_bytes == 0) return true;
    }
    enum rd_outcome sent = send_payload(pending, error);
    if (sent != RD_OUTCOME_DONE) return sent == RD_OUTCOME_AGAIN;
  }
}

static enum rd_outcome send_payload(struct rd_pending *pending, struct rd_error *error) {
  struct rd_frame frame = {.type = RD_FRAME_HANDSHAKE};
  rd_frame_encode(&frame, pending->header);
  struct iovec parts[] = {{pending->header, RD_HEADER_BYTES}, {pending->payload, pending->unsent_bytes}};
  struct rd_transport *transport = pending->transport;
  enum rd_outcome sent = transport->ops->send(transport, parts, 2, error);
  if (sent != RD_OUTCOME_DONE) return sent;
  pending->sent++;
  pending->unsent_bytes = 0;
  return RD_OUTCOME_DONE;
}
