// SPDX-License-Identifier: Apache-2.0
// Tests of the built rdsend and rdrecv against protocol violations of a peer that holds the key.
// Over TCP. The programs end with an error and commit nothing. `program_violations_test all`: with each role, dialer
// and protection.
#include "base/bytes.h"
#include "protocol_violations.h"
#include "stream_files.h"
#include "target.h"
#include "transport/tcp/connector.h"

#include <errno.h>

static struct rd_error error;

#define WAYS 6u

// How the two connect: WAYS combinations per role.
struct meeting {
  enum rd_role role; // of the target
  bool target_dials;
  enum rd_protection wants;
};

static struct rd_transport *join(struct target *target, bool target_dials) {
  struct rd_address address = {.host = "127.0.0.1"};
  if (!target_dials) return target_connect(target);
  struct rd_connector *listener = rd_tcp_listen("127.0.0.1", 0, 0, &address.port, &error);
  target_dial(target, address.port);
  return accept_one(listener);
}

static void start(struct target *target, const struct meeting *meeting, bool has_file) {
  target_start(target, meeting->role, meeting->wants);
  bool is_sender = meeting->role == RD_ROLE_SENDER;
  if (has_file) target_set_file(target, is_sender ? source_path : sink_path);
  if (is_sender) target_command(target, "{\"op\":\"commit\",\"status\":0}");
}

// Returns after the handshake, when the sender has chosen its connection.
static struct hostile meet(struct target *target, const struct meeting *meeting) {
  struct rd_transport *transport = join(target, meeting->target_dials);
  enum rd_role role = meeting->role == RD_ROLE_SENDER ? RD_ROLE_RECEIVER : RD_ROLE_SENDER;
  struct hostile hostile = hostile_meet(transport, role, !meeting->target_dials, meeting->wants);
  if (role == RD_ROLE_SENDER) say_empty(&hostile, RD_FRAME_PING);
  return hostile;
}

static void check_violation(const struct violation *violation, const struct meeting *meeting) {
  struct target target;
  struct rd_frame frame;
  struct rd_abort said = {.code = RD_CODE_OK};
  unsigned char payload[RD_CONTROL_PAYLOAD_MAX_BYTES];
  size_t bytes;
  start(&target, meeting, !violation->wants_no_output);
  struct hostile hostile = meet(&target, meeting);
  violation->commit(&hostile);
  // It reports the reason before it closes the connection.
  bool right = CHECK(hostile_hear(&hostile, RD_FRAME_ABORT, &frame, payload, &bytes)) &&
               CHECK(rd_abort_decode(payload, bytes, &said, &error)) && CHECK(said.code == RD_CODE_DATA_DAMAGED);
  hostile_leave(&hostile);
  right = CHECK(target_ends(&target, RD_CODE_DATA_DAMAGED)) && right;
  right = CHECK(access(sink_path, F_OK) < 0) && right;
  if (!right)
    fprintf(stderr, "%s, %s, %s\n", violation->name, protection_words[meeting->wants],
            meeting->target_dials ? "dialled" : "listened to");
}

// Tests each violation with the next of the meetings, or with all of them.
static void check_violations(const struct violation *violations, size_t count, enum rd_role role, bool all_ways) {
  for (size_t i = 0; i < WAYS * count; i++) {
    size_t number = i / WAYS, way = i % WAYS;
    const struct meeting meeting = {.role = role, .target_dials = way & 1, .wants = (enum rd_protection)(way / 2)};
    if (all_ways || way == number % WAYS) check_violation(&violations[number], &meeting);
  }
}

// Invalid HELLOs ----------------------------------------------------------------------------------------------------

static void keep_rules(struct hostile *hostile, enum rd_role role) {
  struct rd_frame frame;
  bool is_first = hostile->agreement.mine.epoch == 1; // otherwise the receiver sends the position to resume from
  if (role == RD_ROLE_RECEIVER) {
    if (!is_first) say_empty(hostile, RD_FRAME_RESUME);
    CHECK(hostile_hear(hostile, RD_FRAME_END, &frame, NULL, NULL));
    hostile_say(hostile, RD_FRAME_DONE, frame.offset, NULL, 0);
    CHECK(hostile_hear(hostile, RD_FRAME_BYE, &frame, NULL, NULL));
    return;
  }
  say_empty(hostile, RD_FRAME_PING);
  if (!is_first) CHECK(hostile_hear(hostile, RD_FRAME_RESUME, &frame, NULL, NULL));
  say_end(hostile, 0, 0);
  CHECK(hostile_hear(hostile, RD_FRAME_DONE, &frame, NULL, NULL));
  say_empty(hostile, RD_FRAME_BYE);
}

// The HELLO is rejected, and the next peer is accepted.
static void check_hello(struct rd_hello hello, const struct meeting *meeting) {
  struct target target;
  // The dialer chooses the epoch, from 1 on; a listener is refused if it demands a higher one than that.
  if (hello.epoch == 0 && meeting->target_dials) hello.epoch = 7;
  enum rd_role role = meeting->role == RD_ROLE_SENDER ? RD_ROLE_RECEIVER : RD_ROLE_SENDER;
  start(&target, meeting, true);
  struct rd_transport *transport = join(&target, meeting->target_dials);
  shake_in_vain(transport, role, !meeting->target_dials, hello);
  if (meeting->target_dials) CHECK(target_wait_event(&target, "dial_failed") != NULL);
  struct hostile peer = hostile_meet(join(&target, meeting->target_dials), role, !meeting->target_dials, true);
  keep_rules(&peer, role);
  hostile_leave(&peer);
  CHECK(target_ends(&target, RD_CODE_OK));
  if (meeting->role == RD_ROLE_RECEIVER) CHECK(unlink(sink_path) == 0);
}

static void check_hellos(void) {
  static const struct rd_hello of_receivers[] = {
      {.version = 1, .epoch = 1, .slots = 0, .slot_bytes = 4096},
      {.version = 1, .epoch = 1, .slots = (1u << 16) + 1, .slot_bytes = 4096},
      {.version = 1, .epoch = 1, .slots = UINT32_MAX, .slot_bytes = 4096},
      {.version = 1, .epoch = 1, .slots = 4, .slot_bytes = 4096, .small_slots = (1u << 16) + 1},
      {.version = 1, .epoch = 1, .slots = 4, .slot_bytes = 0},
      {.version = 1, .epoch = 1, .slots = 4, .slot_bytes = RD_SLOT_MAX_BYTES + 1},
      {.version = 1, .epoch = 1, .slots = 4, .slot_bytes = UINT32_MAX},
      {.version = 1, .epoch = 0, .slots = 4, .slot_bytes = 4096},
      {.version = 0, .epoch = 1, .slots = 4, .slot_bytes = 4096},
      {.version = 2, .epoch = 1, .slots = 4, .slot_bytes = 4096},
      {.version = UINT16_MAX, .epoch = 1, .slots = 4, .slot_bytes = 4096},
  };
  static const struct rd_hello of_senders[] = {
      {.version = 1, .epoch = 1, .slots = 1},
      {.version = 1, .epoch = 1, .slot_bytes = 1},
      {.version = 1, .epoch = 1, .small_slots = 1},
      {.version = 1, .epoch = 1, .slots = UINT32_MAX, .slot_bytes = UINT32_MAX},
      {.version = 1, .epoch = 0},
      {.version = 0, .epoch = 1},
      {.version = 2, .epoch = 1},
      {.version = UINT16_MAX, .epoch = 1},
  };
  for (int dialer = 0; dialer < 2; dialer++) {
    struct meeting with_sender = {.role = RD_ROLE_SENDER, .target_dials = dialer, .wants = RD_PROTECTION_SEAL};
    struct meeting with_receiver = {.role = RD_ROLE_RECEIVER, .target_dials = dialer, .wants = RD_PROTECTION_SEAL};
    for (size_t i = 0; i < sizeof of_receivers / sizeof of_receivers[0]; i++)
      check_hello(of_receivers[i], &with_sender);
    for (size_t i = 0; i < sizeof of_senders / sizeof of_senders[0]; i++) check_hello(of_senders[i], &with_receiver);
  }
}

// Texts -------------------------------------------------------------------------------------------------------------

// The program reports an ABORT with any text in one line of plain text.
static void check_abort(uint32_t code, const char *words, const char *expected) {
  for (int role = 0; role < 2; role++) {
    struct target target;
    unsigned char payload[RD_CONTROL_PAYLOAD_MAX_BYTES];
    start(&target, &(struct meeting){.role = (enum rd_role)role, .wants = RD_PROTECTION_SEAL}, true);
    struct hostile hostile = meet(&target, &(struct meeting){.role = (enum rd_role)role, .wants = RD_PROTECTION_SEAL});
    rd_put_u32(payload, code);
    memcpy(payload + 4, words, strlen(words));
    hostile_say(&hostile, RD_FRAME_ABORT, UINT64_MAX, payload, 4 + strlen(words));
    CHECK(target_ends(&target, RD_CODE_ABORTED));
    CHECK(strstr(target.said, expected) != NULL);
    hostile_leave(&hostile);
  }
}

static void check_aborts(void) {
  char large[RD_ABORT_REASON_MAX_BYTES + 1];
  memset(large, 'x', sizeof large - 1);
  large[sizeof large - 1] = '\0';
  check_abort(8, "", "\"message\":\"the other side ended the stream: \"");
  check_abort(0, "\033]0;title\007 two\nlines\r %s%n",
              "\"message\":\"the other side ended the stream: ?]0;title? two?lines? %s%n\"");
  check_abort(UINT32_MAX, "\xff\xc2\x9b\xe4\xb8", "\"message\":\"the other side ended the stream: ?????\"");
  check_abort(9, "\"},{\"event\":\"end\"", "ended the stream: \\\"},{\\\"event\\\":\\\"end\\\"\"");
  check_abort(10, large, "xxxxxxxx");
}

// Floods ------------------------------------------------------------------------------------------------------------

#define FLOOD_FRAMES 256u

// Sends FLOOD_FRAMES sealed frames with one call, bypassing the transport, and drops the answers.
static void flood(struct hostile *hostile, enum rd_frame_type type, const void *payload, size_t bytes) {
  static unsigned char batch[FLOOD_FRAMES * (4 + RD_HEADER_BYTES + RD_ACK_BYTES + RD_TAG_BYTES)], heard[1 << 16];
  size_t filled = 0;
  int fd = hostile->transport->ops->poll_fd(hostile->transport);
  for (unsigned i = 0; i < FLOOD_FRAMES; i++) {
    struct rd_frame frame = {.type = type, .epoch = 1};
    unsigned char *message = batch + filled + 4;
    rd_put_u32(batch + filled, (uint32_t)(RD_HEADER_BYTES + bytes + RD_TAG_BYTES));
    REQUIRE(
        rd_seal_seal(hostile->agreement.outgoing, &frame, payload, bytes, message, message + RD_HEADER_BYTES, &error));
    filled += 4 + RD_HEADER_BYTES + bytes + RD_TAG_BYTES;
  }
  for (size_t sent = 0; sent < filled && !hostile->over;) {
    ssize_t count = send(fd, batch + sent, filled - sent, MSG_NOSIGNAL | MSG_DONTWAIT);
    if (count < 0 && errno != EAGAIN) hostile->over = true;
    if (count > 0) sent += (size_t)count;
    while (recv(fd, heard, sizeof heard, MSG_DONTWAIT) > 0) continue;
  }
}

// During a flood of any size the program still reads the agent's commands.
static void check_flood(enum rd_role role, enum rd_frame_type type, size_t bytes) {
  static const unsigned char zeros[RD_ACK_BYTES];
  struct target target;
  const struct meeting meeting = {.role = role, .wants = RD_PROTECTION_SEAL};
  start(&target, &meeting, role == RD_ROLE_SENDER);
  struct hostile hostile = meet(&target, &meeting);
  CHECK(target_wait_event(&target, "connected") != NULL);
  for (int i = 0; i < 100; i++) flood(&hostile, type, zeros, bytes);
  target_command(&target, "{\"op\":\"abort\",\"reason\":\"enough\"}");
  int64_t until_ms = rd_now_ms() + WAIT_MS;
  while (target_event(&target, "finished", 0) == NULL && !hostile.over && rd_now_ms() < until_ms)
    flood(&hostile, type, zeros, bytes);
  hostile_leave(&hostile);
  if (!CHECK(target_ends(&target, RD_CODE_ABORTED))) fprintf(stderr, "a flood of type %d\n", (int)type);
}

int main(int argc, char **argv) {
  bool all = argc > 1 && strcmp(argv[1], "all") == 0;
  make_stream_files("program_violations");
  write_source(10);
  check_violations(violations_of_either, VIOLATIONS_COUNT(violations_of_either), RD_ROLE_RECEIVER, all);
  check_violations(sender_violations, VIOLATIONS_COUNT(sender_violations), RD_ROLE_RECEIVER, all);
  hostile_compresses = false;
  check_violations(plain_sender_violations, VIOLATIONS_COUNT(plain_sender_violations), RD_ROLE_RECEIVER, all);
  hostile_compresses = true;
  check_violations(violations_of_either, VIOLATIONS_COUNT(violations_of_either), RD_ROLE_SENDER, all);
  check_violations(receiver_violations, VIOLATIONS_COUNT(receiver_violations), RD_ROLE_SENDER, all);
  check_hellos();
  check_aborts();
  check_flood(RD_ROLE_RECEIVER, RD_FRAME_PING, 0);
  check_flood(RD_ROLE_RECEIVER, RD_FRAME_PONG, 0);
  check_flood(RD_ROLE_SENDER, RD_FRAME_PING, 0);
  check_flood(RD_ROLE_SENDER, RD_FRAME_PONG, 0);
  check_flood(RD_ROLE_SENDER, RD_FRAME_ACK, RD_ACK_BYTES);
  CHECK(access(sink_path, F_OK) < 0);
  remove_stream_files();
  return test_end("program_violations");
}
