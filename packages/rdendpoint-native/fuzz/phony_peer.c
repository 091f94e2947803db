// SPDX-License-Identifier: Apache-2.0
#include "phony_peer.h"

#include "base/cleanup.h"
#include "base/io.h"
#include "codec/block.h"
#include "protected_frame.h"
#include "wire/wire.h"

#include <poll.h>
#include <sys/socket.h>

#define HANDSHAKE_MS 5000
#define PATIENCE_MS 20 // for something that may or may not come
#define LEAVE_MS 5000
#define LENGTH_BYTES 4u
#define PERIOD_BYTES (64u << 10)
#define MESSAGE_MAX_BYTES (RD_HEADER_BYTES + RD_SLOT_MAX_BYTES + RD_TAG_BYTES)

// How a frame differs from one of an honest peer. Bits.
enum tweak {
  TWEAK_OFFSET = 1,
  TWEAK_PAYLOAD = 2,
  TWEAK_EPOCH = 4,
  TWEAK_SEAL = 8, // with another protection than it must have
  TWEAK_SEQUENCE = 16,
  TWEAK_BIT = 32, // one bit changes in transit
  TWEAK_STREAM = 64,
  TWEAK_LENGTH = 128, // the message is longer or shorter than its contents
};

// Bits in the byte that chooses a frame: its type, and whether it is compressed or has other flags.
enum { TYPE_PACKED = 0x40, TYPE_FLAGS = 0x80, TYPE = 0x3f };

struct draft {
  struct rd_frame frame;
  bool is_packed; // the payload is sent compressed if that makes it smaller
  unsigned char payload[RD_SLOT_MAX_BYTES];
  size_t bytes;
};

static size_t phony_some(uint64_t position, size_t most, unsigned char *out);
static bool is_last(unsigned type);
static void act_frame(struct phony_peer *peer, struct fuzz_input *input);
static void draft_frame(const struct phony_peer *peer, enum rd_frame_type type, size_t bytes, struct draft *draft);
static size_t draft_data(const struct phony_peer *peer, size_t bytes, unsigned char *payload);
static void tweak_draft(struct draft *draft, unsigned tweaks, struct fuzz_input *input);
static void send_draft(struct phony_peer *peer, struct draft *draft, unsigned tweaks, struct fuzz_input *input);
static size_t pack_draft(struct draft *draft, unsigned char **body);
static bool is_known(const struct phony_peer *peer, const struct draft *draft, unsigned tweaks);
static enum rd_protection protection_of(const struct phony_peer *peer, enum rd_frame_type type);
static void note_said(struct phony_peer *peer, const struct draft *draft, bool intact);
static void go_back(struct phony_peer *peer, uint64_t offset);
static bool is_proper(const struct phony_peer *peer, const struct draft *draft);
static bool is_senders(const struct phony_peer *peer, const struct draft *draft);
static bool can_follow(const struct phony_peer *peer, const struct draft *draft);
static bool is_receivers(const struct phony_peer *peer, const struct draft *draft);
static bool has_credit(const struct phony_peer *peer);
static bool send_bytes(struct phony_peer *peer, const void *bytes, size_t count);
static bool shake_hands(struct phony_peer *peer, struct rd_handshake *handshake);
static bool send_handshake(struct phony_peer *peer, struct rd_handshake *handshake);
static ssize_t receive_message(struct phony_peer *peer, int most_ms);
static bool receive_bytes(struct phony_peer *peer, unsigned char *bytes, size_t count, int most_ms);
static unsigned take_message(struct phony_peer *peer, size_t bytes);
static void take_payload(struct phony_peer *peer, const struct rd_frame *frame, const unsigned char *payload,
                         size_t bytes);
static void unpack(const struct phony_peer *peer, unsigned char **payload, size_t *bytes);
static void take_resume(struct phony_peer *peer, uint64_t offset);
static void take_digest(struct phony_peer *peer, uint64_t bytes);
static void take_data(struct phony_peer *peer, const struct rd_frame *frame, const unsigned char *payload,
                      size_t bytes);

// Buffers of the peer; there is only one at a time.
static unsigned char incoming[MESSAGE_MAX_BYTES], outgoing[LENGTH_BYTES + MESSAGE_MAX_BYTES];
static unsigned char stream[PHONY_STREAM_MAX_BYTES];
static struct draft the_draft;

void phony_peer_init(struct phony_peer *peer, enum rd_role role) {
  *peer = (struct phony_peer){.fd = -1, .role = role};
  peer->stream = stream;
  take_digest(peer, 0);
}

void phony_peer_clear(struct phony_peer *peer) {
  phony_peer_meet(peer, -1);
  rd_digest_destroy(peer->digest);
}

void phony_peer_meet(struct phony_peer *peer, int fd) {
  rd_seal_destroy(peer->agreement.outgoing);
  rd_seal_destroy(peer->agreement.incoming);
  rd_cleanup_fd(&peer->fd);
  peer->fd = fd;
  peer->agreement = (struct rd_agreement){.outgoing = NULL};
  peer->joined = peer->deaf = peer->mute = peer->said_end = false;
  peer->said_frames = peer->acked_frames = peer->heard_frames = peer->granted_frames = 0;
}

bool phony_peer_join(struct phony_peer *peer, bool is_dialer, const struct rd_hello *hello) {
  unsigned char key[RD_KEY_BYTES];
  struct rd_identity identity = {.key = key, .run = "test", .hop = 1};
  struct rd_error error;
  memset(key, 7, sizeof key);
  struct rd_handshake *handshake = rd_handshake_create(&identity, peer->role, is_dialer, hello, &error);
  FUZZ_REQUIRE(handshake != NULL && (!is_dialer || rd_handshake_input(handshake, NULL, 0, &error)));
  peer->joined = shake_hands(peer, handshake) && rd_handshake_take(handshake, &peer->agreement, &error);
  if (peer->joined) peer->protection = peer->agreement.protection;
  peer->resume_owed = peer->agreement.mine.epoch > 1;
  rd_handshake_destroy(handshake);
  return peer->joined;
}

void phony_peer_act(struct phony_peer *peer, uint8_t op, struct fuzz_input *input) {
  const uint8_t *bytes;
  size_t count;
  switch (op % 8) {
  case 0:
    count = fuzz_take(input, fuzz_u16(input), &bytes);
    if (count > 0) peer->misbehaved = true;
    if (peer->protection == RD_PROTECTION_NONE) peer->stream_is_known = false;
    (void)send_bytes(peer, bytes, count);
    break;
  case 1:
    (void)phony_peer_hear(peer, op >> 3, PATIENCE_MS);
    break;
  case 2:
    if (op >> 3 == RD_FRAME_DATA && !has_credit(peer)) (void)phony_peer_hear(peer, RD_FRAME_ACK, PATIENCE_MS);
    phony_peer_say(peer, (enum rd_frame_type)(op >> 3), 1u + fuzz_u16(input));
    break;
  default:
    act_frame(peer, input);
  }
  (void)phony_peer_hear(peer, 0, 0);
}

void phony_peer_say(struct phony_peer *peer, enum rd_frame_type type, size_t bytes) {
  struct fuzz_input nothing = {NULL, 0};
  draft_frame(peer, type, bytes, &the_draft);
  send_draft(peer, &the_draft, 0, &nothing);
}

bool phony_peer_hear(struct phony_peer *peer, unsigned type, int most_ms) {
  while (peer->joined && !peer->deaf) {
    ssize_t bytes = receive_message(peer, most_ms);
    if (bytes <= 0) return false;
    unsigned came = take_message(peer, (size_t)bytes);
    if (came == type || is_last(came)) return came == type;
  }
  return false;
}

void phony_peer_leave(struct phony_peer *peer) {
  peer->mute = true;
  shutdown(peer->fd, SHUT_WR);
  while (peer->joined && !peer->deaf && rd_wait_fd(peer->fd, POLLIN, LEAVE_MS) > 0) (void)phony_peer_hear(peer, 0, 0);
  // It ends soon if it receives nothing more.
  FUZZ_REQUIRE(!peer->joined || peer->deaf);
}

void phony_bytes(uint64_t position, size_t count, unsigned char *out) {
  for (size_t done = 0, some; done < count; done += some) some = phony_some(position + done, count - done, out + done);
}

bool phony_are(uint64_t position, size_t count, const unsigned char *bytes) {
  unsigned char expected[1024];
  for (size_t done = 0; done < count; done += sizeof expected) {
    size_t some = count - done < sizeof expected ? count - done : sizeof expected;
    phony_bytes(position + done, some, expected);
    if (memcmp(bytes + done, expected, some) != 0) return false;
  }
  return true;
}

// Returns as many contiguous bytes as there are; the stream repeats after PERIOD_BYTES.
static size_t phony_some(uint64_t position, size_t most, unsigned char *out) {
  static unsigned char period[PERIOD_BYTES];
  if (period[1] == 0)
    for (size_t i = 0; i < sizeof period; i++) period[i] = (unsigned char)(i * 31 + (i >> 8));
  size_t at = (size_t)(position % sizeof period), left = sizeof period - at, count = most < left ? most : left;
  memcpy(out, period + at, count);
  return count;
}

static bool is_last(unsigned type) {
  return type == RD_FRAME_END || type == RD_FRAME_ABORT || type == RD_FRAME_DONE || type == RD_FRAME_CLOSED;
}

static void act_frame(struct phony_peer *peer, struct fuzz_input *input) {
  uint8_t type = fuzz_u8(input);
  unsigned tweaks = fuzz_u8(input);
  draft_frame(peer, (enum rd_frame_type)(type & TYPE), fuzz_u16(input), &the_draft);
  if (type & TYPE_FLAGS) the_draft.frame.flags = fuzz_u8(input);
  the_draft.is_packed = type & TYPE_PACKED && the_draft.frame.type == RD_FRAME_DATA;
  tweak_draft(&the_draft, tweaks, input);
  send_draft(peer, &the_draft, tweaks, input);
}

static void draft_frame(const struct phony_peer *peer, enum rd_frame_type type, size_t bytes, struct draft *draft) {
  uint64_t total = peer->role == RD_ROLE_SENDER ? peer->said_bytes : peer->heard_bytes;
  draft->frame = (struct rd_frame){.type = type, .epoch = peer->agreement.mine.epoch, .offset = total};
  draft->bytes = 0;
  draft->is_packed = false;
  if (type == RD_FRAME_HANDSHAKE) draft->frame.epoch = 0, draft->frame.offset = 0;
  if (type == RD_FRAME_HANDSHAKE || type == RD_FRAME_DATA) draft->bytes = draft_data(peer, bytes, draft->payload);
  if (type == RD_FRAME_ACK) {
    rd_ack_encode(peer->heard_frames, draft->payload);
    draft->bytes = RD_ACK_BYTES;
  }
  if (type == RD_FRAME_END) {
    struct rd_end end = {.producer_status = (uint32_t)bytes};
    if (peer->protection == RD_PROTECTION_NONE) rd_digest_value(peer->digest, end.digest);
    draft->bytes = rd_end_encode(&end, draft->payload);
  }
  if (type == RD_FRAME_ABORT) {
    struct rd_abort words = {.code = RD_CODE_SINK_UNWRITABLE, .reason = "the disk is full"};
    draft->bytes = rd_abort_encode(&words, draft->payload);
  }
}

static size_t draft_data(const struct phony_peer *peer, size_t bytes, unsigned char *payload) {
  uint32_t most = peer->agreement.peer.slot_bytes;
  if (most > 0 && bytes > most) bytes = most;
  phony_bytes(peer->said_bytes, bytes, payload);
  return bytes;
}

static void tweak_draft(struct draft *draft, unsigned tweaks, struct fuzz_input *input) {
  const uint8_t *bytes;
  if (tweaks & TWEAK_OFFSET) {
    uint8_t near = fuzz_u8(input);
    draft->frame.offset = near == 0 ? fuzz_u64(input) : draft->frame.offset + (uint64_t)(int64_t)(int8_t)near;
    // The bytes of that position: a loop that accepts them at another position writes wrong bytes, which the check
    // finds.
    if (draft->frame.type == RD_FRAME_DATA) phony_bytes(draft->frame.offset, draft->bytes, draft->payload);
  }
  if (tweaks & TWEAK_EPOCH) draft->frame.epoch = fuzz_u32(input);
  if (tweaks & TWEAK_STREAM) draft->frame.stream = fuzz_u16(input);
  if (!(tweaks & TWEAK_PAYLOAD)) return;
  draft->bytes = fuzz_take(input, fuzz_u16(input), &bytes);
  if (draft->bytes > 0) memcpy(draft->payload, bytes, draft->bytes);
}

static void send_draft(struct phony_peer *peer, struct draft *draft, unsigned tweaks, struct fuzz_input *input) {
  unsigned char *header = outgoing + LENGTH_BYTES, *body = header + RD_HEADER_BYTES;
  struct rd_error error;
  if (!peer->joined) return;
  if (!is_known(peer, draft, tweaks)) peer->stream_is_known = false;
  unsigned char *payload = draft->payload;
  size_t payload_bytes = draft->is_packed ? pack_draft(draft, &payload) : draft->bytes;
  size_t bytes = RD_HEADER_BYTES + payload_bytes;
  bool is_packed = payload != draft->payload;
  enum rd_protection due = protection_of(peer, draft->frame.type), protection = due;
  if (tweaks & TWEAK_SEAL) protection = (enum rd_protection)((due + 1u + fuzz_u8(input) % 2u) % 3u);
  if (protection != RD_PROTECTION_NONE) {
    draft->frame.flags |= rd_protection_flag(protection);
    FUZZ_REQUIRE(protect_frame(peer->agreement.outgoing, &draft->frame, payload, payload_bytes, header, &error));
    bytes += RD_TAG_BYTES;
  } else {
    rd_frame_encode(&draft->frame, header);
    if (payload_bytes > 0) memcpy(body, payload, payload_bytes);
  }
  if (tweaks & TWEAK_SEQUENCE) rd_put_u64(header + 16, draft->frame.sequence + 1 + fuzz_u8(input));
  if (tweaks & TWEAK_BIT) header[fuzz_u16(input) % bytes] ^= (unsigned char)(1u << fuzz_u8(input) % 8);
  rd_put_u32(outgoing, (uint32_t)bytes + (tweaks & TWEAK_LENGTH ? 1u + fuzz_u16(input) : 0));
  unsigned right = (is_packed ? RD_FLAG_COMPRESSED : 0u) | rd_protection_flag(due);
  bool intact = (tweaks & (TWEAK_SEAL | TWEAK_SEQUENCE | TWEAK_BIT | TWEAK_LENGTH)) == 0 &&
                (!is_packed || peer->agreement.compresses);
  note_said(peer, draft, intact && draft->frame.flags == right);
  (void)send_bytes(peer, outgoing, LENGTH_BYTES + bytes);
}

// Compresses the payload; leaves it as it is if it does not shrink.
static size_t pack_draft(struct draft *draft, unsigned char **body) {
  static struct rd_packer *packer;
  static unsigned char packed[RD_SLOT_MAX_BYTES];
  struct rd_error error;
  if (packer == NULL) packer = rd_packer_create(1, &error);
  FUZZ_REQUIRE(packer != NULL);
  size_t bytes = rd_pack(packer, draft->payload, draft->bytes, packed, rd_pack_most_bytes(draft->bytes));
  if (bytes == 0) return draft->bytes;
  draft->frame.flags |= RD_FLAG_COMPRESSED;
  *body = packed;
  return bytes;
}

// Returns true if all that the loop could take for DATA after this frame has the bytes of its position.
static bool is_known(const struct phony_peer *peer, const struct draft *draft, unsigned tweaks) {
  if (draft->frame.type == RD_FRAME_DATA && tweaks & TWEAK_PAYLOAD) return false;
  bool is_changed = tweaks & (TWEAK_SEAL | TWEAK_BIT | TWEAK_LENGTH) || draft->frame.flags != 0;
  return peer->protection != RD_PROTECTION_NONE || !is_changed;
}

static enum rd_protection protection_of(const struct phony_peer *peer, enum rd_frame_type type) {
  if (type == RD_FRAME_HANDSHAKE) return RD_PROTECTION_NONE;
  return type == RD_FRAME_DATA ? peer->protection : RD_PROTECTION_SEAL;
}

// Call before sending: the effect may be visible at once.
static void note_said(struct phony_peer *peer, const struct draft *draft, bool intact) {
  if (!intact || !is_proper(peer, draft)) peer->misbehaved = true;
  bool is_stream = draft->frame.type == RD_FRAME_DATA || draft->frame.type == RD_FRAME_END;
  if (peer->resume_owed && is_stream) peer->spoke_early = true;
  if (intact && draft->frame.type == RD_FRAME_DONE) peer->said_done = true;
  if (intact && draft->frame.type == RD_FRAME_RESUME) go_back(peer, draft->frame.offset);
  if (peer->misbehaved) return;
  switch (draft->frame.type) {
  case RD_FRAME_DATA:
    if (!has_credit(peer)) peer->overdrawn = true;
    memcpy(peer->stream + peer->said_bytes, draft->payload, draft->bytes);
    rd_digest_update(peer->digest, draft->payload, draft->bytes);
    peer->said_bytes += draft->bytes;
    peer->said_frames++;
    break;
  case RD_FRAME_END:
    peer->said_end = peer->ended = true;
    peer->end_bytes = peer->said_bytes;
    break;
  case RD_FRAME_ACK:
    peer->granted_frames = rd_get_u64(draft->payload);
    peer->granted_bytes = draft->frame.offset;
    break;
  case RD_FRAME_CLOSED:
    peer->said_closed = true;
    break;
  default:
    break;
  }
}

// Goes back to any offset: the loop may accept it, although no honest receiver would send it.
static void go_back(struct phony_peer *peer, uint64_t offset) {
  if (!peer->resume_owed || offset > PHONY_STREAM_MAX_BYTES) return;
  peer->resume_owed = peer->heard_end = false;
  peer->heard_bytes = offset;
  take_digest(peer, offset);
}

// Returns true if an honest peer might have sent this frame now. ABORT does not count as misbehaviour, but nothing may
// follow it.
static bool is_proper(const struct phony_peer *peer, const struct draft *draft) {
  const struct rd_frame *frame = &draft->frame;
  if (frame->stream != 0 || frame->epoch != peer->agreement.mine.epoch) return false;
  if (frame->type == RD_FRAME_PING || frame->type == RD_FRAME_PONG) return draft->bytes == 0;
  return peer->role == RD_ROLE_SENDER ? is_senders(peer, draft) : is_receivers(peer, draft);
}

static bool is_senders(const struct phony_peer *peer, const struct draft *draft) {
  const struct rd_frame *frame = &draft->frame;
  if (peer->resume_owed || peer->said_end || frame->offset != peer->said_bytes) return false;
  if (frame->type == RD_FRAME_DATA) return can_follow(peer, draft);
  struct rd_end end;
  struct rd_error error;
  unsigned char digest[RD_DIGEST_BYTES];
  if (frame->type != RD_FRAME_END || !rd_end_decode(draft->payload, draft->bytes, &end, &error)) return false;
  rd_digest_value(peer->digest, digest);
  bool right = peer->protection != RD_PROTECTION_NONE || memcmp(digest, end.digest, sizeof digest) == 0;
  return right && (!peer->ended || peer->said_bytes == peer->end_bytes);
}

// Once END was sent, the stream may not change.
static bool can_follow(const struct phony_peer *peer, const struct draft *draft) {
  uint64_t most = peer->ended ? peer->end_bytes : PHONY_STREAM_MAX_BYTES;
  if (draft->bytes == 0 || draft->bytes > peer->agreement.peer.slot_bytes) return false;
  if (peer->said_bytes + draft->bytes > most) return false;
  return !peer->ended || memcmp(peer->stream + peer->said_bytes, draft->payload, draft->bytes) == 0;
}

static bool is_receivers(const struct phony_peer *peer, const struct draft *draft) {
  const struct rd_frame *frame = &draft->frame;
  if (frame->type == RD_FRAME_RESUME)
    return peer->resume_owed && draft->bytes == 0 && frame->offset >= peer->granted_bytes &&
           frame->offset <= peer->heard_bytes;
  if (peer->resume_owed || frame->offset != peer->heard_bytes) return false;
  if (frame->type == RD_FRAME_DONE) return peer->heard_end && draft->bytes == 0;
  if (frame->type == RD_FRAME_CLOSED) return draft->bytes == 0;
  // Before the first byte there is nothing to acknowledge.
  return frame->type == RD_FRAME_ACK && draft->bytes == RD_ACK_BYTES && peer->heard_bytes > 0 &&
         rd_get_u64(draft->payload) == peer->heard_frames;
}

static bool has_credit(const struct phony_peer *peer) {
  return peer->said_frames - peer->acked_frames < peer->agreement.peer.slots;
}

// Returns false if the loop accepts no more. A loop whose socket is full gets only a short time.
static bool send_bytes(struct phony_peer *peer, const void *bytes, size_t count) {
  const unsigned char *at = bytes;
  while (count > 0 && !peer->mute) {
    ssize_t sent = send(peer->fd, at, count, MSG_NOSIGNAL | MSG_DONTWAIT);
    if (sent >= 0) {
      at += sent;
      count -= (size_t)sent;
    } else if (errno != EINTR && (errno != EAGAIN || rd_wait_fd(peer->fd, POLLOUT, PATIENCE_MS) <= 0)) {
      peer->mute = true;
    }
  }
  return !peer->mute;
}

static bool shake_hands(struct phony_peer *peer, struct rd_handshake *handshake) {
  struct rd_error error;
  while (send_handshake(peer, handshake) && !rd_handshake_complete(handshake)) {
    ssize_t bytes = receive_message(peer, HANDSHAKE_MS);
    if (bytes <= (ssize_t)RD_HEADER_BYTES || incoming[0] != RD_FRAME_HANDSHAKE) return false;
    if (rd_handshake_input(handshake, incoming + RD_HEADER_BYTES, (size_t)bytes - RD_HEADER_BYTES, &error)) continue;
    (void)send_handshake(peer, handshake);
    return false;
  }
  return rd_handshake_complete(handshake);
}

static bool send_handshake(struct phony_peer *peer, struct rd_handshake *handshake) {
  const struct rd_frame frame = {.type = RD_FRAME_HANDSHAKE};
  unsigned char *header = outgoing + LENGTH_BYTES;
  size_t bytes;
  while ((bytes = rd_handshake_output(handshake, header + RD_HEADER_BYTES,
                                      RD_HANDSHAKE_MESSAGE_MAX_BYTES - RD_HEADER_BYTES)) > 0) {
    rd_put_u32(outgoing, (uint32_t)(RD_HEADER_BYTES + bytes));
    rd_frame_encode(&frame, header);
    if (!send_bytes(peer, outgoing, LENGTH_BYTES + RD_HEADER_BYTES + bytes)) return false;
  }
  return true;
}

// Returns the message's length; 0: none came; -1: the loop is gone. A message that has begun arrives completely.
static ssize_t receive_message(struct phony_peer *peer, int most_ms) {
  unsigned char length[LENGTH_BYTES];
  if (rd_wait_fd(peer->fd, POLLIN, most_ms) <= 0) return 0;
  if (!receive_bytes(peer, length, sizeof length, LEAVE_MS)) return -1;
  size_t bytes = rd_get_u32(length);
  FUZZ_REQUIRE(bytes >= RD_HEADER_BYTES && bytes <= sizeof incoming);
  return receive_bytes(peer, incoming, bytes, LEAVE_MS) ? (ssize_t)bytes : -1;
}

static bool receive_bytes(struct phony_peer *peer, unsigned char *bytes, size_t count, int most_ms) {
  while (count > 0 && !peer->deaf) {
    ssize_t got = recv(peer->fd, bytes, count, MSG_DONTWAIT);
    if (got > 0) {
      bytes += got;
      count -= (size_t)got;
    } else if (got == 0 || errno != EAGAIN || rd_wait_fd(peer->fd, POLLIN, most_ms) <= 0) {
      peer->deaf = true;
    }
  }
  return count == 0;
}

// Requires that a loop under test never sends a frame that cannot be decoded or opened.
static unsigned take_message(struct phony_peer *peer, size_t bytes) {
  struct rd_frame frame;
  struct rd_error error;
  unsigned char *payload = incoming + RD_HEADER_BYTES;
  size_t payload_bytes = bytes - RD_HEADER_BYTES;
  FUZZ_REQUIRE(rd_frame_decode(incoming, bytes, &frame, &error));
  bool is_packed = (frame.flags & RD_FLAG_COMPRESSED) != 0;
  FUZZ_REQUIRE((frame.flags & ~RD_FLAG_COMPRESSED) == rd_protection_flag(protection_of(peer, frame.type)));
  FUZZ_REQUIRE(!is_packed || peer->agreement.compresses);
  FUZZ_REQUIRE(frame.epoch == peer->agreement.mine.epoch);
  if (rd_frame_has_tag(&frame))
    FUZZ_REQUIRE(rd_seal_open(peer->agreement.incoming, incoming, bytes, &frame, &payload, &payload_bytes, &error));
  if (is_packed) unpack(peer, &payload, &payload_bytes);
  bool is_keepalive = frame.type == RD_FRAME_PING || frame.type == RD_FRAME_PONG;
  FUZZ_REQUIRE(!peer->heard_abort || is_keepalive); // nothing may follow ABORT
  take_payload(peer, &frame, payload, payload_bytes);
  return frame.type;
}

static void unpack(const struct phony_peer *peer, unsigned char **payload, size_t *bytes) {
  static struct rd_unpacker *unpacker;
  static unsigned char unpacked[RD_SLOT_MAX_BYTES];
  struct rd_error error;
  size_t most = peer->agreement.mine.slot_bytes;
  if (unpacker == NULL) unpacker = rd_unpacker_create(&error);
  FUZZ_REQUIRE(unpacker != NULL && peer->agreement.mine.features & RD_FEATURE_ZSTD);
  FUZZ_REQUIRE(rd_unpack(unpacker, *payload, *bytes, unpacked, most, bytes, &error));
  *payload = unpacked;
}

static void take_payload(struct phony_peer *peer, const struct rd_frame *frame, const unsigned char *payload,
                         size_t bytes) {
  struct rd_error error;
  bool receives = peer->role == RD_ROLE_RECEIVER;
  switch (frame->type) {
  case RD_FRAME_DATA:
    take_data(peer, frame, payload, bytes);
    break;
  case RD_FRAME_END:
    FUZZ_REQUIRE(receives && frame->offset == peer->heard_bytes && !peer->heard_end);
    FUZZ_REQUIRE(rd_end_decode(payload, bytes, &peer->end, &error));
    peer->heard_end = peer->heard_an_end = true;
    break;
  case RD_FRAME_ACK:
    FUZZ_REQUIRE(!receives && frame->offset >= peer->acked_bytes);
    FUZZ_REQUIRE(rd_ack_decode(payload, bytes, &peer->acked_frames, &error));
    FUZZ_REQUIRE(peer->misbehaved || frame->offset <= peer->said_bytes);
    FUZZ_REQUIRE(peer->misbehaved || peer->acked_frames <= peer->said_frames);
    peer->acked_bytes = frame->offset;
    break;
  case RD_FRAME_DONE:
    FUZZ_REQUIRE(!receives && (peer->spoke_early || (peer->ended && frame->offset == peer->end_bytes)));
    peer->heard_done = true;
    break;
  case RD_FRAME_CLOSED:
    FUZZ_REQUIRE(!receives);
    peer->heard_closed = true;
    break;
  case RD_FRAME_ABORT:
    peer->heard_abort = true;
    break;
  case RD_FRAME_PING:
    phony_peer_say(peer, RD_FRAME_PONG, 0);
    break;
  case RD_FRAME_PONG:
    break;
  case RD_FRAME_BYE:
    FUZZ_REQUIRE(receives);
    break;
  case RD_FRAME_RESUME:
    FUZZ_REQUIRE(!receives && peer->resume_owed);
    take_resume(peer, frame->offset);
    break;
  case RD_FRAME_HANDSHAKE:
    FUZZ_REQUIRE(frame->type != RD_FRAME_HANDSHAKE); // a loop does not send it now
  }
}

// The loop cannot have more than was sent. If it does not have the bytes that were sent wrongly, those are forgotten.
// Frames that were sent before RESUME, at the offset that it then has, may still be accepted.
static void take_resume(struct phony_peer *peer, uint64_t offset) {
  FUZZ_REQUIRE(offset >= peer->acked_bytes && (offset <= peer->said_bytes || peer->misbehaved));
  peer->resume_owed = false;
  if (offset > peer->said_bytes) return;
  peer->misbehaved = peer->spoke_early;
  peer->overdrawn = false;
  peer->said_bytes = offset;
  if (offset < peer->end_bytes) peer->ended = false; // then it does not have END either
  take_digest(peer, offset);
}

// Restarts the digest with the first bytes of the stream.
static void take_digest(struct phony_peer *peer, uint64_t bytes) {
  struct rd_error error;
  rd_digest_destroy(peer->digest);
  peer->digest = rd_digest_create(&error);
  FUZZ_REQUIRE(peer->digest != NULL);
  rd_digest_update(peer->digest, peer->stream, bytes);
}

static void take_data(struct phony_peer *peer, const struct rd_frame *frame, const unsigned char *payload,
                      size_t bytes) {
  FUZZ_REQUIRE(peer->role == RD_ROLE_RECEIVER && !peer->resume_owed);
  FUZZ_REQUIRE(!peer->heard_end && frame->offset == peer->heard_bytes);
  FUZZ_REQUIRE(bytes > 0 && bytes <= peer->agreement.mine.slot_bytes);
  FUZZ_REQUIRE(phony_are(peer->heard_bytes, bytes, payload));
  FUZZ_REQUIRE(peer->heard_bytes + bytes <= PHONY_STREAM_MAX_BYTES);
  memcpy(peer->stream + peer->heard_bytes, payload, bytes);
  rd_digest_update(peer->digest, payload, bytes);
  peer->heard_bytes += bytes;
  peer->heard_frames++;
  // Not more than was granted.
  const struct rd_hello *mine = &peer->agreement.mine;
  FUZZ_REQUIRE(peer->misbehaved || peer->heard_frames <= mine->slots + mine->small_slots + peer->granted_frames);
}
