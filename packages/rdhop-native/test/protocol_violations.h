// SPDX-License-Identifier: Apache-2.0
// Protocol violations of a peer that holds the key, right after the sender chose its connection.
#ifndef RD_PROTOCOL_VIOLATIONS_H
#define RD_PROTOCOL_VIOLATIONS_H

#include "hostile_peer.h"
#include "wire/window.h"

struct violation {
  const char *name;
  void (*commit)(struct hostile *hostile);
  bool wants_no_output; // it is a violation only while the receiver cannot write
};

static inline void say_end(struct hostile *hostile, uint64_t offset, int digest_byte) {
  struct rd_end end = {.producer_status = 0};
  unsigned char payload[RD_END_MAX_BYTES];
  memset(end.digest, digest_byte, sizeof end.digest);
  hostile_say(hostile, RD_FRAME_END, offset, payload, rd_end_encode(&end, payload));
}

static inline void say_data(struct hostile *hostile, uint64_t offset, size_t bytes) {
  static const unsigned char zeros[HOSTILE_PAYLOAD_MAX];
  hostile_say(hostile, RD_FRAME_DATA, offset, zeros, bytes);
}

static inline void say_ack(struct hostile *hostile, uint64_t offset, uint64_t frames) {
  unsigned char payload[RD_ACK_BYTES];
  rd_ack_encode(frames, payload);
  hostile_say(hostile, RD_FRAME_ACK, offset, payload, sizeof payload);
}

static inline void say_empty(struct hostile *hostile, enum rd_frame_type type) {
  hostile_say(hostile, type, 0, NULL, 0);
}

// Violations of either end ------------------------------------------------------------------------------------------

static inline void say_type(struct hostile *hostile, int type) {
  hostile_say(hostile, (enum rd_frame_type)type, 0, NULL, 0);
}

static void do_type_0(struct hostile *hostile) {
  say_type(hostile, 0);
}

static void do_type_12(struct hostile *hostile) {
  say_type(hostile, 12);
}

static void do_type_255(struct hostile *hostile) {
  say_type(hostile, 255);
}

static void do_late_handshake(struct hostile *hostile) {
  hostile_say_frame(hostile, (struct rd_frame){.type = RD_FRAME_HANDSHAKE}, RD_PROTECTION_NONE, "x", 1);
}

static void do_sealed_handshake(struct hostile *hostile) {
  hostile_say(hostile, RD_FRAME_HANDSHAKE, 0, "x", 1);
}

static void do_other_stream(struct hostile *hostile) {
  hostile_say_frame(hostile, (struct rd_frame){.type = RD_FRAME_PING, .epoch = 1, .stream = 1}, RD_PROTECTION_SEAL,
                    NULL, 0);
}

static void do_other_flag(struct hostile *hostile) {
  hostile_say_frame(hostile, (struct rd_frame){.type = RD_FRAME_PING, .epoch = 1, .flags = 0x80}, RD_PROTECTION_SEAL,
                    NULL, 0);
}

static inline void say_epoch(struct hostile *hostile, uint32_t epoch) {
  hostile_say_frame(hostile, (struct rd_frame){.type = RD_FRAME_PING, .epoch = epoch}, RD_PROTECTION_SEAL, NULL, 0);
}

static void do_epoch_0(struct hostile *hostile) {
  say_epoch(hostile, 0);
}

static void do_next_epoch(struct hostile *hostile) {
  say_epoch(hostile, 2);
}

static void do_last_epoch(struct hostile *hostile) {
  say_epoch(hostile, UINT32_MAX);
}

static void do_plain_ping(struct hostile *hostile) {
  hostile_say_frame(hostile, (struct rd_frame){.type = RD_FRAME_PING, .epoch = 1}, RD_PROTECTION_NONE, NULL, 0);
}

static void do_ping_of_a_byte(struct hostile *hostile) {
  hostile_say(hostile, RD_FRAME_PING, 0, "x", 1);
}

static void do_pong_of_a_megabyte(struct hostile *hostile) {
  static const unsigned char zeros[RD_SLOT_MAX_BYTES];
  hostile_say(hostile, RD_FRAME_PONG, 0, zeros, sizeof zeros);
}

static void do_short_abort(struct hostile *hostile) {
  hostile_say(hostile, RD_FRAME_ABORT, 0, "abc", 3);
}

static void do_long_abort(struct hostile *hostile) {
  static const unsigned char zeros[RD_CONTROL_PAYLOAD_MAX_BYTES + 1];
  hostile_say(hostile, RD_FRAME_ABORT, 0, zeros, sizeof zeros);
}

// Skips a number of the sequence.
static void do_gap(struct hostile *hostile) {
  unsigned char header[RD_HEADER_BYTES], tag[RD_TAG_BYTES];
  struct rd_frame frame = {.type = RD_FRAME_PING, .epoch = 1};
  struct rd_error error;
  REQUIRE(rd_seal_seal(hostile->agreement.outgoing, &frame, NULL, 0, header, tag, &error));
  say_empty(hostile, RD_FRAME_PING);
}

static void do_replay(struct hostile *hostile) {
  unsigned char message[RD_HEADER_BYTES + RD_TAG_BYTES];
  struct rd_frame frame = {.type = RD_FRAME_PING, .epoch = 1};
  struct rd_error error;
  REQUIRE(rd_seal_seal(hostile->agreement.outgoing, &frame, NULL, 0, message, message + RD_HEADER_BYTES, &error));
  hostile_send(hostile, message, sizeof message);
  hostile_send(hostile, message, sizeof message);
}

// Sends the other end its own message.
static void do_reflect(struct hostile *hostile) {
  unsigned char message[RD_HEADER_BYTES + RD_CONTROL_PAYLOAD_MAX_BYTES + RD_TAG_BYTES];
  unsigned char opened[sizeof message], *payload;
  struct rd_frame frame;
  size_t bytes = hostile_overhear(hostile, message, sizeof message), payload_bytes;
  REQUIRE(bytes > 0);
  memcpy(opened, message, bytes);
  hostile_open(hostile, opened, bytes, &frame, &payload, &payload_bytes); // its number in the sequence is used
  hostile_send(hostile, message, bytes);
}

static void do_bare_header(struct hostile *hostile) {
  unsigned char message[RD_HEADER_BYTES];
  struct rd_frame frame = {.type = RD_FRAME_PING, .flags = RD_FLAG_SEALED, .epoch = 1};
  rd_frame_encode(&frame, message);
  hostile_send(hostile, message, sizeof message);
}

// Violations of a sender -------------------------------------------------------------------------------------------

static void do_data_beyond(struct hostile *hostile) {
  say_data(hostile, 1, 1);
}

static void do_data_at_the_end_of_time(struct hostile *hostile) {
  say_data(hostile, UINT64_MAX, 1);
}

static void do_data_twice(struct hostile *hostile) {
  say_data(hostile, 0, 3);
  say_data(hostile, 0, 3);
}

static void do_empty_data(struct hostile *hostile) {
  say_data(hostile, 0, 0);
}

static void do_large_data(struct hostile *hostile) {
  say_data(hostile, 0, HOSTILE_SLOT_BYTES + 1);
}

static void do_huge_data(struct hostile *hostile) {
  say_data(hostile, 0, RD_SLOT_MAX_BYTES);
}

// Correct in every respect but its protection.
static void say_data_protected(struct hostile *hostile, unsigned less_or_more) {
  struct rd_frame frame = {.type = RD_FRAME_DATA, .epoch = 1};
  hostile_say_frame(hostile, frame, (enum rd_protection)((hostile->agreement.protection + less_or_more) % 3), "x", 1);
}

static void do_otherwise_protected_data(struct hostile *hostile) {
  say_data_protected(hostile, 1);
}

static void do_another_way_protected_data(struct hostile *hostile) {
  say_data_protected(hostile, 2);
}

static void do_data_protected_twice(struct hostile *hostile) {
  struct rd_frame frame = {.type = RD_FRAME_DATA, .flags = RD_FLAG_SEALED, .epoch = 1};
  hostile_say_frame(hostile, frame, RD_PROTECTION_MAC, "x", 1);
}

// Changes on the path ----------------------------------------------------------------------------------------------
// Changes that an attacker on the path makes to a correct sender's frame of DATA. If DATA is unencrypted and has no
// MAC, the change is in the header, or END reveals it.

enum { ON_THE_WAY_BYTES = 3, ON_THE_WAY_MAX = RD_HEADER_BYTES + ON_THE_WAY_BYTES + RD_TAG_BYTES };

static inline size_t good_data(struct hostile *hostile, uint64_t offset, unsigned char *message) {
  struct rd_frame frame = {.type = RD_FRAME_DATA, .epoch = 1, .offset = offset};
  return hostile_make(hostile, frame, hostile->agreement.protection, "abc", ON_THE_WAY_BYTES, message);
}

static inline void say_end_where_it_tells(struct hostile *hostile) {
  if (hostile->agreement.protection == RD_PROTECTION_NONE) say_end(hostile, ON_THE_WAY_BYTES, 0);
}

static void send_changed(struct hostile *hostile, size_t at) {
  unsigned char message[ON_THE_WAY_MAX];
  size_t bytes = good_data(hostile, 0, message);
  message[at] ^= 1;
  hostile_send(hostile, message, bytes);
  say_end_where_it_tells(hostile);
}

static void do_changed_payload(struct hostile *hostile) {
  send_changed(hostile, RD_HEADER_BYTES + ON_THE_WAY_BYTES - 1);
}

static void do_changed_offset(struct hostile *hostile) {
  send_changed(hostile, 8);
}

static void do_changed_sequence(struct hostile *hostile) {
  send_changed(hostile, 16);
}

static void do_changed_flags(struct hostile *hostile) {
  send_changed(hostile, 1);
}

static void do_cut_data(struct hostile *hostile) {
  unsigned char message[ON_THE_WAY_MAX];
  hostile_send(hostile, message, good_data(hostile, 0, message) - 1);
  say_end_where_it_tells(hostile);
}

static void do_data_without_its_tag(struct hostile *hostile) {
  unsigned char message[ON_THE_WAY_MAX];
  size_t tag_bytes = hostile->agreement.protection == RD_PROTECTION_NONE ? ON_THE_WAY_BYTES : RD_TAG_BYTES;
  hostile_send(hostile, message, good_data(hostile, 0, message) - tag_bytes);
}

static void do_swapped_data(struct hostile *hostile) {
  unsigned char messages[2][ON_THE_WAY_MAX];
  size_t bytes = good_data(hostile, 0, messages[0]);
  (void)good_data(hostile, ON_THE_WAY_BYTES, messages[1]);
  hostile_send(hostile, messages[1], bytes);
  hostile_send(hostile, messages[0], bytes);
}

static void do_data_sent_again(struct hostile *hostile) {
  unsigned char message[ON_THE_WAY_MAX];
  size_t bytes = good_data(hostile, 0, message);
  for (int i = 0; i < 2; i++) hostile_send(hostile, message, bytes);
}

// Compressed data: a zstd frame that contains 3 bytes uncompressed.
static const unsigned char three_packed[] = {3, 0, 0, 0, 0x28, 0xb5, 0x2f, 0xfd, 0x20, 3, 0x19, 0, 0, 'a', 'b', 'c'};
// 128 KiB of zeros, in about 20 bytes: more than fits in a slot.
static const unsigned char bomb_packed[] = {0, 0, 2, 0, 0x28, 0xb5, 0x2f, 0xfd, 0xa0, 0, 0, 2, 0, 3, 0, 0x10, 0};

static void say_packed(struct hostile *hostile, const void *payload, size_t bytes) {
  struct rd_frame frame = {.type = RD_FRAME_DATA, .flags = RD_FLAG_COMPRESSED, .epoch = 1};
  hostile_say_frame(hostile, frame, hostile->agreement.protection, payload, bytes);
}

// Correct, except that HELLO did not offer compression.
static void do_packed_not_offered(struct hostile *hostile) {
  say_packed(hostile, three_packed, sizeof three_packed);
}

static void say_three_as(struct hostile *hostile, unsigned char said, size_t bytes) {
  unsigned char payload[sizeof three_packed];
  memcpy(payload, three_packed, sizeof payload);
  payload[0] = said;
  say_packed(hostile, payload, bytes);
}

static void do_packed_of_less(struct hostile *hostile) {
  say_three_as(hostile, 4, sizeof three_packed);
}

static void do_packed_of_more(struct hostile *hostile) {
  say_three_as(hostile, 2, sizeof three_packed);
}

static void do_packed_of_none(struct hostile *hostile) {
  say_three_as(hostile, 0, sizeof three_packed);
}

static void do_packed_cut_off(struct hostile *hostile) {
  say_three_as(hostile, 3, sizeof three_packed - 1);
}

static void do_packed_noise(struct hostile *hostile) {
  say_packed(hostile, "\3\0\0\0noise that is no frame", 26);
}

static void do_packed_without_a_frame(struct hostile *hostile) {
  say_packed(hostile, "\3\0\0\0", 4);
}

static void do_bomb(struct hostile *hostile) {
  say_packed(hostile, bomb_packed, sizeof bomb_packed);
}

// A frame that expands to three bytes, then DATA that begins too early.
static void do_packed_then_too_early(struct hostile *hostile) {
  say_three_as(hostile, 3, sizeof three_packed);
  say_data(hostile, 2, 1);
}

static void do_packed_ping(struct hostile *hostile) {
  hostile_say_frame(hostile, (struct rd_frame){.type = RD_FRAME_PING, .flags = RD_FLAG_COMPRESSED, .epoch = 1},
                    RD_PROTECTION_SEAL, NULL, 0);
}

static void do_data_without_credit(struct hostile *hostile) {
  for (unsigned i = 0; i < 2 * HOSTILE_SLOTS + 4; i++) say_data(hostile, i * (RD_SMALL_BYTES + 1), RD_SMALL_BYTES + 1);
}

static void do_small_data_without_credit(struct hostile *hostile) {
  for (unsigned i = 0; i < RD_SMALL_SLOTS + 2 * HOSTILE_SLOTS + 4; i++) say_data(hostile, i, 1);
}

static void do_data_after_end(struct hostile *hostile) {
  say_end(hostile, 0, 0);
  say_data(hostile, 0, 1);
}

static void do_end_twice(struct hostile *hostile) {
  say_end(hostile, 0, 0);
  say_end(hostile, 0, 0);
}

static void do_end_too_early(struct hostile *hostile) {
  say_data(hostile, 0, 3);
  say_end(hostile, 2, 0);
}

static void do_end_at_the_end_of_time(struct hostile *hostile) {
  say_end(hostile, UINT64_MAX, 0);
}

static void do_end_with_wrong_digest(struct hostile *hostile) {
  say_data(hostile, 0, 3);
  // If DATA is protected, the digest is not checked; a wrong length is.
  say_end(hostile, hostile->agreement.protection != RD_PROTECTION_NONE ? 4 : 3, 0x5a);
}

static void do_short_end(struct hostile *hostile) {
  static const unsigned char zeros[RD_END_BYTES];
  hostile_say(hostile, RD_FRAME_END, 0, zeros, sizeof zeros - 1);
}

static void do_early_bye(struct hostile *hostile) {
  say_empty(hostile, RD_FRAME_BYE);
}

static void do_bye_before_done(struct hostile *hostile) {
  say_end(hostile, 0, 0);
  say_empty(hostile, RD_FRAME_BYE);
}

static void do_senders_ack(struct hostile *hostile) {
  say_ack(hostile, 0, 0);
}

static void do_senders_done(struct hostile *hostile) {
  say_empty(hostile, RD_FRAME_DONE);
}

static void do_senders_closed(struct hostile *hostile) {
  say_empty(hostile, RD_FRAME_CLOSED);
}

static void do_senders_resume(struct hostile *hostile) {
  say_empty(hostile, RD_FRAME_RESUME);
}

// Violations of a receiver -----------------------------------------------------------------------------------------

static void do_ack_beyond(struct hostile *hostile) {
  struct rd_frame frame;
  CHECK(hostile_hear(hostile, RD_FRAME_DATA, &frame, NULL, NULL));
  say_ack(hostile, UINT64_MAX, 1);
}

static void do_ack_too_many(struct hostile *hostile) {
  struct rd_frame frame;
  CHECK(hostile_hear(hostile, RD_FRAME_DATA, &frame, NULL, NULL));
  say_ack(hostile, 0, UINT64_MAX);
}

static void do_ack_unasked(struct hostile *hostile) {
  say_ack(hostile, 1u << 30, 1000);
}

static void do_ack_back(struct hostile *hostile) {
  struct rd_frame frame;
  CHECK(hostile_hear(hostile, RD_FRAME_DATA, &frame, NULL, NULL));
  say_ack(hostile, 1, 1);
  say_ack(hostile, 0, 1);
}

static void do_ack_frames_back(struct hostile *hostile) {
  struct rd_frame frame;
  CHECK(hostile_hear(hostile, RD_FRAME_DATA, &frame, NULL, NULL));
  say_ack(hostile, 1, 1);
  say_ack(hostile, 1, 0);
}

static void do_short_ack(struct hostile *hostile) {
  hostile_say(hostile, RD_FRAME_ACK, 0, "1234567", 7);
}

static void do_early_done(struct hostile *hostile) {
  say_empty(hostile, RD_FRAME_DONE);
}

static void do_done_of_less(struct hostile *hostile) {
  struct rd_frame frame;
  CHECK(hostile_hear(hostile, RD_FRAME_END, &frame, NULL, NULL));
  hostile_say(hostile, RD_FRAME_DONE, frame.offset - 1, NULL, 0);
}

static void do_done_of_more(struct hostile *hostile) {
  struct rd_frame frame;
  CHECK(hostile_hear(hostile, RD_FRAME_END, &frame, NULL, NULL));
  hostile_say(hostile, RD_FRAME_DONE, UINT64_MAX, NULL, 0);
}

static void do_receivers_data(struct hostile *hostile) {
  say_data(hostile, 0, 1);
}

static void do_receivers_end(struct hostile *hostile) {
  say_end(hostile, 0, 0);
}

static void do_receivers_bye(struct hostile *hostile) {
  say_empty(hostile, RD_FRAME_BYE);
}

static void do_early_resume(struct hostile *hostile) {
  say_empty(hostile, RD_FRAME_RESUME);
}

static const struct violation violations_of_either[] = {
    {"a frame of type 0", do_type_0, false},
    {"a frame of type 12", do_type_12, false},
    {"a frame of type 255", do_type_255, false},
    {"a handshake at the wrong time", do_late_handshake, false},
    {"a sealed handshake", do_sealed_handshake, false},
    {"another stream", do_other_stream, false},
    {"another flag", do_other_flag, false},
    {"epoch 0", do_epoch_0, false},
    {"the next epoch", do_next_epoch, false},
    {"the last epoch", do_last_epoch, false},
    {"a plain PING", do_plain_ping, false},
    {"a PING of a byte", do_ping_of_a_byte, false},
    {"a PONG of a megabyte", do_pong_of_a_megabyte, false},
    {"a short ABORT", do_short_abort, false},
    {"a long ABORT", do_long_abort, false},
    {"a gap in the sequence", do_gap, false},
    {"a frame sent again", do_replay, false},
    {"a reflected frame", do_reflect, false},
    {"a header without a tag", do_bare_header, false},
};

static const struct violation sender_violations[] = {
    {"DATA that begins beyond", do_data_beyond, false},
    {"DATA at 2^64-1", do_data_at_the_end_of_time, false},
    {"DATA twice", do_data_twice, false},
    {"empty DATA", do_empty_data, false},
    {"DATA larger than a slot", do_large_data, false},
    {"DATA of a megabyte", do_huge_data, false},
    {"DATA protected otherwise than agreed", do_otherwise_protected_data, false},
    {"DATA protected another way than agreed", do_another_way_protected_data, false},
    {"DATA that is sealed and has a MAC", do_data_protected_twice, false},
    {"DATA whose payload was changed", do_changed_payload, false},
    {"DATA whose offset was changed", do_changed_offset, false},
    {"DATA whose sequence was changed", do_changed_sequence, false},
    {"DATA whose flags were changed", do_changed_flags, false},
    {"DATA that was cut", do_cut_data, false},
    {"DATA without its tag", do_data_without_its_tag, false},
    {"DATA frames that were swapped", do_swapped_data, false},
    {"a DATA frame sent again", do_data_sent_again, false},
    {"compressed DATA of less than it says", do_packed_of_less, false},
    {"compressed DATA of more than it says", do_packed_of_more, false},
    {"compressed DATA of nothing", do_packed_of_none, false},
    {"compressed DATA that is cut off", do_packed_cut_off, false},
    {"compressed DATA that is noise", do_packed_noise, false},
    {"compressed DATA without a frame of zstd's", do_packed_without_a_frame, false},
    {"compressed DATA larger than a slot", do_bomb, false},
    {"DATA that begins within what was compressed", do_packed_then_too_early, false},
    {"a compressed PING", do_packed_ping, false},
    {"DATA without credit", do_data_without_credit, true},
    {"small DATA without credit", do_small_data_without_credit, true},
    {"DATA after END", do_data_after_end, true},
    {"END twice", do_end_twice, true},
    {"END of less", do_end_too_early, false},
    {"END at 2^64-1", do_end_at_the_end_of_time, false},
    {"END with another digest", do_end_with_wrong_digest, false},
    {"a short END", do_short_end, false},
    {"BYE before anything", do_early_bye, false},
    {"BYE before DONE", do_bye_before_done, true},
    {"a sender's ACK", do_senders_ack, false},
    {"a sender's DONE", do_senders_done, false},
    {"a sender's CLOSED", do_senders_closed, false},
    {"a sender's RESUME", do_senders_resume, false},
};

// Violations of a sender whose HELLO does not offer compression.
static const struct violation plain_sender_violations[] = {
    {"compressed DATA that HELLO did not offer", do_packed_not_offered, false},
};

static const struct violation receiver_violations[] = {
    {"ACK of 2^64-1 bytes", do_ack_beyond, false},
    {"ACK of 2^64-1 frames", do_ack_too_many, false},
    {"ACK of what was not sent", do_ack_unasked, false},
    {"ACK that goes back", do_ack_back, false},
    {"ACK of frames that goes back", do_ack_frames_back, false},
    {"a short ACK", do_short_ack, false},
    {"DONE before END", do_early_done, false},
    {"DONE of less", do_done_of_less, false},
    {"DONE of 2^64-1 bytes", do_done_of_more, false},
    {"a receiver's DATA", do_receivers_data, false},
    {"a receiver's END", do_receivers_end, false},
    {"a receiver's BYE", do_receivers_bye, false},
    {"RESUME on the first connection", do_early_resume, false},
};

#define VIOLATIONS_COUNT(of) (sizeof(of) / sizeof((of)[0]))

#endif
