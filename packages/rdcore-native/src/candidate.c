// SPDX-License-Identifier: Apache-2.0
#include "candidate.h"

#include "io.h"

#include <stdlib.h>
#include <string.h>

#define PAYLOAD_MOST_BYTES (RD_HANDSHAKE_MESSAGE_MAX_BYTES - RD_HEADER_BYTES)

struct rd_candidate {
  struct rd_transport *transport;
  struct rd_handshake *handshake;
  enum rd_role role;
  int64_t until_ms;
  bool authenticated;
  struct rd_agreement agreement; // once authenticated

  // The one message on its way out; its memory is the transport's until it was released.
  unsigned char header[RD_HEADER_BYTES];
  unsigned char payload[PAYLOAD_MOST_BYTES];
  size_t unsent_bytes; // of a payload the transport would not take yet
  uint64_t sent;
};

static int shake_hands(struct rd_candidate *candidate, struct rd_error *error);
static int hear_last(struct rd_candidate *candidate, struct rd_error *error);
static int await_choice(struct rd_candidate *candidate, struct rd_error *error);
static bool is_choice(struct rd_candidate *candidate, const struct rd_message *message, struct rd_error *error);
static bool take_in(struct rd_candidate *candidate, struct rd_error *error);
static bool put_out(struct rd_candidate *candidate, struct rd_error *error);
static int send_payload(struct rd_candidate *candidate, struct rd_error *error);

struct rd_candidate *rd_candidate_create(struct rd_transport *transport, const struct rd_identity *identity,
                                         enum rd_role role, bool dialler, const struct rd_hello *mine, int64_t until_ms,
                                         struct rd_error *error) {
  struct rd_candidate *candidate = calloc(1, sizeof *candidate);
  if (candidate == NULL) {
    rd_error_set(error, RD_CODE_INTERNAL, "no memory for a connection");
    rd_transport_destroy(transport);
    return NULL;
  }
  candidate->transport = transport;
  candidate->role = role;
  candidate->until_ms = until_ms;
  candidate->handshake = rd_handshake_create(identity, role, dialler, mine, error);
  bool begun = candidate->handshake != NULL && (!dialler || rd_handshake_input(candidate->handshake, NULL, 0, error));
  if (begun) return candidate;
  rd_candidate_destroy(candidate);
  return NULL;
}

void rd_candidate_destroy(struct rd_candidate *candidate) {
  if (candidate == NULL) return;
  rd_transport_destroy(candidate->transport);
  rd_handshake_destroy(candidate->handshake);
  rd_seal_destroy(candidate->agreement.outgoing);
  rd_seal_destroy(candidate->agreement.incoming);
  free(candidate);
}

void rd_candidate_adapt_slots(struct rd_candidate *candidate) {
  rd_handshake_adapt_slots(candidate->handshake);
}

int rd_candidate_service(struct rd_candidate *candidate, struct rd_error *error) {
  int serviced = candidate->authenticated ? 1 : shake_hands(candidate, error);
  if (serviced > 0 && candidate->role == RD_ROLE_RECEIVER) serviced = await_choice(candidate, error);
  if (serviced != 0 || rd_now_ms() < candidate->until_ms) return serviced;
  rd_error_set(error, RD_CODE_CANNOT_CONNECT, "%s did not %s in time", rd_candidate_peer(candidate),
               candidate->authenticated ? "use its connection" : "answer the handshake");
  return -1;
}

bool rd_candidate_authenticated(const struct rd_candidate *candidate) {
  return candidate->authenticated;
}

bool rd_candidate_named_key(const struct rd_candidate *candidate) {
  return rd_handshake_named_key(candidate->handshake);
}

void rd_candidate_take(struct rd_candidate *candidate, struct rd_transport **transport,
                       struct rd_agreement *agreement) {
  *transport = candidate->transport;
  *agreement = candidate->agreement;
  candidate->transport = NULL;
  candidate->agreement = (struct rd_agreement){.outgoing = NULL};
}

int64_t rd_candidate_until_ms(const struct rd_candidate *candidate) {
  return candidate->until_ms;
}

struct pollfd rd_candidate_poll(const struct rd_candidate *candidate) {
  const struct rd_transport *transport = candidate->transport;
  return (struct pollfd){.fd = transport->ops->poll_fd(transport), .events = transport->ops->poll_events(transport)};
}

const char *rd_candidate_peer(const struct rd_candidate *candidate) {
  return candidate->transport->ops->peer_name(candidate->transport);
}

// 1 authenticated, 0 not yet, -1 failed.
static int shake_hands(struct rd_candidate *candidate, struct rd_error *error) {
  struct rd_error ignored;
  if (!put_out(candidate, error)) return hear_last(candidate, error);
  if (!take_in(candidate, error)) {
    put_out(candidate, &ignored); // the alert that says why
    return -1;
  }
  if (!put_out(candidate, error)) return -1;
  bool out =
      candidate->unsent_bytes == 0 && candidate->transport->ops->released(candidate->transport) == candidate->sent;
  if (!out || !rd_handshake_complete(candidate->handshake)) return 0;
  candidate->authenticated = rd_handshake_take(candidate->handshake, &candidate->agreement, error);
  return candidate->authenticated ? 1 : -1;
}

// What the peer said before it went tells more than that it went. Returns -1.
static int hear_last(struct rd_candidate *candidate, struct rd_error *error) {
  struct rd_error last;
  if (rd_code_is_loss(error->code) && !take_in(candidate, &last) && !rd_code_is_loss(last.code)) *error = last;
  return -1;
}

// Takes one frame only: what follows it may need the memory for data.
static int await_choice(struct rd_candidate *candidate, struct rd_error *error) {
  struct rd_transport *transport = candidate->transport;
  struct rd_message message;
  int received = transport->ops->receive(transport, &message, error);
  if (received <= 0) return received;
  bool chosen = is_choice(candidate, &message, error);
  transport->ops->give_back(transport, &message);
  return chosen ? 1 : -1;
}

static bool is_choice(struct rd_candidate *candidate, const struct rd_message *message, struct rd_error *error) {
  struct rd_frame frame;
  unsigned char *payload;
  size_t bytes;
  if (!rd_frame_decode(message->data, message->bytes, &frame, error)) return false;
  bool sealed = (frame.flags & RD_FLAG_SEALED) != 0;
  if (frame.type != RD_FRAME_PING || !sealed || frame.epoch != candidate->agreement.peer.epoch) {
    rd_error_set(error, RD_CODE_DATA_DAMAGED, "%s sent something else than its choice", rd_candidate_peer(candidate));
    return false;
  }
  return rd_seal_open(candidate->agreement.incoming, message->data, message->bytes, &frame, &payload, &bytes, error);
}

// What arrives after the handshake is complete belongs to the connection and stays where it is.
static bool take_in(struct rd_candidate *candidate, struct rd_error *error) {
  struct rd_transport *transport = candidate->transport;
  while (!rd_handshake_complete(candidate->handshake)) {
    struct rd_message message;
    int received = transport->ops->receive(transport, &message, error);
    if (received <= 0) return received == 0;
    struct rd_frame frame;
    bool good = rd_frame_decode(message.data, message.bytes, &frame, error);
    if (good && frame.type != RD_FRAME_HANDSHAKE) {
      rd_error_set(error, RD_CODE_DATA_DAMAGED, "%s sent something else than a handshake",
                   rd_candidate_peer(candidate));
      good = false;
    }
    good = good && rd_handshake_input(candidate->handshake, message.data + RD_HEADER_BYTES,
                                      message.bytes - RD_HEADER_BYTES, error);
    transport->ops->give_back(transport, &message);
    if (!good) return false;
    // Where the peer is gone already, there may be more to hear.
    if (!put_out(candidate, error) && !rd_code_is_loss(error->code)) return false;
  }
  return true;
}

static bool put_out(struct rd_candidate *candidate, struct rd_error *error) {
  struct rd_transport *transport = candidate->transport;
  for (;;) {
    if (!transport->ops->flush(transport, error)) return false;
    if (transport->ops->released(transport) != candidate->sent) return true;
    if (candidate->unsent_bytes == 0) {
      candidate->unsent_bytes =
          rd_handshake_output(candidate->handshake, candidate->payload, sizeof candidate->payload);
      if (candidate->unsent_bytes == 0) return true;
    }
    int sent = send_payload(candidate, error);
    if (sent <= 0) return sent == 0;
  }
}

static int send_payload(struct rd_candidate *candidate, struct rd_error *error) {
  struct rd_frame frame = {.type = RD_FRAME_HANDSHAKE};
  rd_frame_encode(&frame, candidate->header);
  struct iovec parts[] = {{candidate->header, RD_HEADER_BYTES}, {candidate->payload, candidate->unsent_bytes}};
  struct rd_transport *transport = candidate->transport;
  int sent = transport->ops->send(transport, parts, 2, error);
  if (sent <= 0) return sent;
  candidate->sent++;
  candidate->unsent_bytes = 0;
  return 1;
}
