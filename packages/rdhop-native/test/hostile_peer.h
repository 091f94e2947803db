// SPDX-License-Identifier: Apache-2.0
// A peer that holds the key and sends any frames, valid or invalid.
#ifndef RD_HOSTILE_PEER_H
#define RD_HOSTILE_PEER_H

#include "base/protocol_version.h"
#include "protected_frame.h"
#include "scripted_peer.h"

#define HOSTILE_SLOTS 4u // slots that it grants, and that the program under test grants with a buffer of 64 KiB
#define HOSTILE_SLOT_BYTES 16384u
#define HOSTILE_PAYLOAD_MAX (RD_SLOT_MAX_BYTES + 1u)

struct hostile {
  struct rd_transport *transport;
  struct rd_agreement agreement;
  bool over; // the other end is gone
};

// Whether the HELLO of a sender offers compression.
static bool hostile_compresses = true;

// Completes a correct handshake for the connection of this epoch.
static inline struct hostile hostile_meet_again(struct rd_transport *transport, enum rd_role role, bool is_dialer,
                                                enum rd_protection wants, uint32_t epoch) {
  struct rd_identity identity = scripted_peer_identity();
  struct rd_error error;
  struct rd_hello hello = {.version = RD_PROTOCOL_VERSION, .wants = wants, .epoch = epoch};
  hello.features = RD_FEATURE_ZSTD;
  hello.compresses = role == RD_ROLE_SENDER && hostile_compresses;
  if (role == RD_ROLE_RECEIVER) hello.slots = HOSTILE_SLOTS, hello.slot_bytes = HOSTILE_SLOT_BYTES;
  struct hostile hostile = {.transport = transport};
  struct rd_pending *pending =
      rd_pending_create(transport, &identity, role, is_dialer, &hello, rd_now_ms() + WAIT_MS, &error);
  REQUIRE(pending != NULL);
  while (!rd_pending_authenticated(pending)) {
    REQUIRE(rd_pending_service(pending, &error) >= 0);
    struct pollfd poll_for = rd_pending_poll(pending);
    if (!rd_pending_authenticated(pending)) rd_wait_fd(poll_for.fd, poll_for.events, 100);
  }
  rd_pending_take(pending, &hostile.transport, &hostile.agreement);
  rd_pending_destroy(pending);
  REQUIRE(transport->ops->arm(transport, HOSTILE_SLOTS + 2, HOSTILE_SLOT_BYTES, &error));
  return hostile;
}

static inline struct hostile hostile_meet(struct rd_transport *transport, enum rd_role role, bool is_dialer,
                                          enum rd_protection wants) {
  return hostile_meet_again(transport, role, is_dialer, wants, 1);
}

// Attempts the handshake with this HELLO until it fails.
static inline void shake_in_vain(struct rd_transport *transport, enum rd_role role, bool is_dialer,
                                 struct rd_hello hello) {
  struct rd_error error;
  struct rd_identity identity = scripted_peer_identity();
  struct rd_pending *pending =
      rd_pending_create(transport, &identity, role, is_dialer, &hello, rd_now_ms() + WAIT_MS, &error);
  REQUIRE(pending != NULL);
  int serviced = 0;
  while (serviced == 0) {
    serviced = rd_pending_service(pending, &error);
    struct pollfd poll_for = rd_pending_poll(pending);
    // This end may accept the handshake. A receiver then waits to be chosen, and a sender's peer closes the connection.
    if (serviced == 0) rd_wait_fd(poll_for.fd, poll_for.events, 100);
  }
  rd_pending_destroy(pending);
}

static inline void hostile_leave(struct hostile *hostile) {
  rd_transport_destroy(hostile->transport);
  rd_seal_destroy(hostile->agreement.outgoing);
  rd_seal_destroy(hostile->agreement.incoming);
}

// Sends a complete message unchanged.
static inline void hostile_send(struct hostile *hostile, unsigned char *message, size_t bytes) {
  const struct rd_transport_ops *ops = hostile->transport->ops;
  struct iovec part = {message, bytes};
  struct rd_error error;
  uint64_t released = ops->released(hostile->transport);
  int sent = 0;
  for (int64_t until_ms = rd_now_ms() + WAIT_MS; !hostile->over && rd_now_ms() < until_ms;) {
    if (sent == 0) sent = ops->send(hostile->transport, &part, 1, &error);
    hostile->over = sent < 0 || !ops->flush(hostile->transport, &error);
    if (sent > 0 && ops->released(hostile->transport) > released) return;
    rd_wait_fd(ops->poll_fd(hostile->transport), ops->poll_events(hostile->transport), 100);
  }
}

// Builds the message for any header. If protected, it takes the next number of the sequence and gets the flag. Returns
// its length.
static inline size_t hostile_make(struct hostile *hostile, struct rd_frame frame, enum rd_protection protection,
                                  const void *payload, size_t bytes, unsigned char *message) {
  struct rd_error error;
  frame.flags |= rd_protection_flag(protection);
  if (protection != RD_PROTECTION_NONE) {
    REQUIRE(protect_frame(hostile->agreement.outgoing, &frame, payload, bytes, message, &error));
    return RD_HEADER_BYTES + bytes + RD_TAG_BYTES;
  }
  rd_frame_encode(&frame, message);
  if (bytes > 0) memcpy(message + RD_HEADER_BYTES, payload, bytes);
  return RD_HEADER_BYTES + bytes;
}

static inline void hostile_say_frame(struct hostile *hostile, struct rd_frame frame, enum rd_protection protection,
                                     const void *payload, size_t bytes) {
  static unsigned char message[RD_HEADER_BYTES + HOSTILE_PAYLOAD_MAX + RD_TAG_BYTES];
  hostile_send(hostile, message, hostile_make(hostile, frame, protection, payload, bytes, message));
}

// Sends a frame as a correct peer would.
static inline void hostile_say(struct hostile *hostile, enum rd_frame_type type, uint64_t offset, const void *payload,
                               size_t bytes) {
  enum rd_protection protection = type == RD_FRAME_DATA ? hostile->agreement.protection : RD_PROTECTION_SEAL;
  hostile_say_frame(hostile, (struct rd_frame){.type = type, .epoch = hostile->agreement.mine.epoch, .offset = offset},
                    protection, payload, bytes);
}

// Stores the next received message unchanged. Returns its length; 0: the other end is gone.
static inline size_t hostile_overhear(struct hostile *hostile, unsigned char *copy, size_t most_bytes) {
  const struct rd_transport_ops *ops = hostile->transport->ops;
  struct rd_error error;
  struct rd_message message;
  int received = 0;
  for (int64_t until_ms = rd_now_ms() + WAIT_MS; received == 0 && rd_now_ms() < until_ms;) {
    received = ops->receive(hostile->transport, &message, &error);
    if (received == 0) rd_wait_fd(ops->poll_fd(hostile->transport), ops->poll_events(hostile->transport), 100);
  }
  CHECK(received != 0);
  if (received <= 0) return 0;
  REQUIRE(message.bytes <= most_bytes);
  memcpy(copy, message.data, message.bytes);
  ops->give_back(hostile->transport, &message);
  return message.bytes;
}

// Decrypts a message in place.
static inline void hostile_open(struct hostile *hostile, unsigned char *message, size_t message_bytes,
                                struct rd_frame *frame, unsigned char **payload, size_t *bytes) {
  struct rd_error error;
  REQUIRE(rd_frame_decode(message, message_bytes, frame, &error));
  *payload = message + RD_HEADER_BYTES;
  *bytes = message_bytes - RD_HEADER_BYTES;
  if (!rd_frame_has_tag(frame)) return;
  REQUIRE(rd_seal_open(hostile->agreement.incoming, message, message_bytes, frame, payload, bytes, &error));
}

// Receives the next frame of this type and skips others: stores its header, and its payload in `payload` (NULL: not
// wanted). Returns false if the other end is gone.
static inline bool hostile_hear(struct hostile *hostile, enum rd_frame_type type, struct rd_frame *frame,
                                unsigned char *payload, size_t *payload_bytes) {
  static unsigned char message[RD_HEADER_BYTES + HOSTILE_PAYLOAD_MAX + RD_TAG_BYTES];
  unsigned char *text;
  size_t message_bytes, bytes;
  while ((message_bytes = hostile_overhear(hostile, message, sizeof message)) > 0) {
    hostile_open(hostile, message, message_bytes, frame, &text, &bytes);
    if (frame->type != type) continue;
    if (payload != NULL) memcpy(payload, text, bytes), *payload_bytes = bytes;
    return true;
  }
  return false;
}

#endif
