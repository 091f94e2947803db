// SPDX-License-Identifier: Apache-2.0
// Tests of protocol violations of a peer that holds the key, after it reconnected.
// To a listening rdsend or rdrecv (docs/protocol/wire.md, section 1.6).
#include "base/protocol_version.h"
#include "protocol_violations.h"
#include "stream_files.h"
#include "target.h"

#define STREAM "some bytes"
#define STREAM_BYTES (sizeof STREAM - 1)
#define ACKNOWLEDGED 5u // bytes of the stream acknowledged on the first connection

struct reconnect_violation {
  const char *name;
  void (*do_it)(struct hostile *hostile);
};

// A receiver reconnects to rdsend, which has sent everything and END ------------------------------------------------

static void resume_at(struct hostile *hostile, uint64_t offset) {
  hostile_say(hostile, RD_FRAME_RESUME, offset, NULL, 0);
}

static void resume_before_what_was_acknowledged(struct hostile *hostile) {
  resume_at(hostile, ACKNOWLEDGED - 1);
}

static void resume_beyond_what_was_sent(struct hostile *hostile) {
  resume_at(hostile, STREAM_BYTES + 1);
}

static void resume_at_the_end_of_time(struct hostile *hostile) {
  resume_at(hostile, UINT64_MAX);
}

static void resume_twice(struct hostile *hostile) {
  resume_at(hostile, ACKNOWLEDGED);
  resume_at(hostile, ACKNOWLEDGED);
}

static void resume_with_a_byte(struct hostile *hostile) {
  hostile_say(hostile, RD_FRAME_RESUME, ACKNOWLEDGED, "x", 1);
}

static void ack_before_resume(struct hostile *hostile) {
  say_ack(hostile, STREAM_BYTES, 0);
}

static void done_before_resume(struct hostile *hostile) {
  hostile_say(hostile, RD_FRAME_DONE, STREAM_BYTES, NULL, 0);
}

static void ack_of_the_first_connection(struct hostile *hostile) {
  resume_at(hostile, STREAM_BYTES);
  say_ack(hostile, STREAM_BYTES, 1);
}

static const struct reconnect_violation receivers[] = {
    {"RESUME before what was acknowledged", resume_before_what_was_acknowledged},
    {"RESUME beyond what was sent", resume_beyond_what_was_sent},
    {"RESUME at 2^64-1", resume_at_the_end_of_time},
    {"RESUME twice", resume_twice},
    {"RESUME with a byte", resume_with_a_byte},
    {"ACK before RESUME", ack_before_resume},
    {"DONE before RESUME", done_before_resume},
    {"ACK of frames of the first connection", ack_of_the_first_connection},
};

// A sender reconnects to rdrecv, which has written ACKNOWLEDGED bytes ------------------------------------------------

static void restart_the_stream(struct hostile *hostile) {
  say_data(hostile, 0, 3);
}

static void leave_a_gap(struct hostile *hostile) {
  say_data(hostile, ACKNOWLEDGED + 1, 3);
}

static void end_before(struct hostile *hostile) {
  say_end(hostile, ACKNOWLEDGED - 1, 0);
}

static void say_resume(struct hostile *hostile) {
  resume_at(hostile, ACKNOWLEDGED);
}

static void send_early_bye(struct hostile *hostile) {
  say_empty(hostile, RD_FRAME_BYE);
}

static void use_the_old_epoch(struct hostile *hostile) {
  hostile_say_frame(hostile, (struct rd_frame){.type = RD_FRAME_PING, .epoch = 1}, RD_PROTECTION_SEAL, NULL, 0);
}

static const struct reconnect_violation senders[] = {
    {"DATA from the beginning", restart_the_stream},
    {"DATA after a gap", leave_a_gap},
    {"END of less", end_before},
    {"a sender's RESUME", say_resume},
    {"BYE", send_early_bye},
    {"a frame of the old epoch", use_the_old_epoch},
};

// -------------------------------------------------------------------------------------------------------------------

static struct hostile meet_receiving(struct target *target, uint32_t epoch) {
  return hostile_meet_again(target_connect(target), RD_ROLE_RECEIVER, true, RD_PROTECTION_SEAL, epoch);
}

static struct hostile meet_sending(struct target *target, uint32_t epoch) {
  struct hostile hostile = hostile_meet_again(target_connect(target), RD_ROLE_SENDER, true, RD_PROTECTION_SEAL, epoch);
  say_empty(&hostile, RD_FRAME_PING);
  return hostile;
}

// Runs until the first connection breaks.
static void start_sender(struct target *target) {
  struct rd_frame frame;
  target_start(target, RD_ROLE_SENDER, RD_PROTECTION_SEAL);
  target_set_file(target, source_path);
  target_command(target, "{\"op\":\"commit\",\"status\":0}");
  struct hostile hostile = meet_receiving(target, 1);
  CHECK(hostile_hear(&hostile, RD_FRAME_END, &frame, NULL, NULL) && frame.offset == STREAM_BYTES);
  say_ack(&hostile, ACKNOWLEDGED, 1);
  say_empty(&hostile, RD_FRAME_PING);
  CHECK(hostile_hear(&hostile, RD_FRAME_PONG, &frame, NULL, NULL)); // it has received the ACK
  hostile_leave(&hostile);
}

static void start_receiver(struct target *target) {
  struct rd_frame frame;
  target_start(target, RD_ROLE_RECEIVER, RD_PROTECTION_SEAL);
  target_set_file(target, sink_path);
  struct hostile hostile = meet_sending(target, 1);
  hostile_say(&hostile, RD_FRAME_DATA, 0, STREAM, ACKNOWLEDGED);
  CHECK(hostile_hear(&hostile, RD_FRAME_ACK, &frame, NULL, NULL) && frame.offset == ACKNOWLEDGED);
  hostile_leave(&hostile);
}

static void check_refused(struct target *target, struct hostile *hostile, const struct reconnect_violation *violation) {
  struct rd_frame frame;
  violation->do_it(hostile);
  bool right = CHECK(hostile_hear(hostile, RD_FRAME_ABORT, &frame, NULL, NULL));
  hostile_leave(hostile);
  right = CHECK(target_ends(target, RD_CODE_DATA_DAMAGED)) && right;
  right = CHECK(access(sink_path, F_OK) < 0) && right;
  if (!right) fprintf(stderr, "%s\n", violation->name);
}

static void check_violations(void) {
  struct target target;
  struct hostile hostile;
  for (size_t i = 0; i < sizeof receivers / sizeof receivers[0]; i++) {
    start_sender(&target);
    hostile = meet_receiving(&target, 2);
    check_refused(&target, &hostile, &receivers[i]);
  }
  for (size_t i = 0; i < sizeof senders / sizeof senders[0]; i++) {
    start_receiver(&target);
    hostile = meet_sending(&target, 2);
    check_refused(&target, &hostile, &senders[i]);
  }
}

// A connection with an earlier epoch is rejected; one with any later epoch resumes the stream.
static void check_epochs(uint32_t next) {
  struct target target;
  struct rd_frame frame;
  struct rd_hello hello = {.version = RD_PROTOCOL_VERSION, .epoch = 1, .slots = 1, .slot_bytes = 4096};
  start_sender(&target);
  shake_in_vain(target_connect(&target), RD_ROLE_RECEIVER, true, hello);
  struct hostile hostile = meet_receiving(&target, next);
  resume_at(&hostile, ACKNOWLEDGED);
  CHECK(hostile_hear(&hostile, RD_FRAME_DATA, &frame, NULL, NULL) && frame.offset == ACKNOWLEDGED);
  CHECK(hostile_hear(&hostile, RD_FRAME_END, &frame, NULL, NULL) && frame.offset == STREAM_BYTES);
  hostile_say(&hostile, RD_FRAME_DONE, STREAM_BYTES, NULL, 0);
  CHECK(hostile_hear(&hostile, RD_FRAME_BYE, &frame, NULL, NULL));
  hostile_leave(&hostile);
  CHECK(target_ends(&target, RD_CODE_OK));
}

// A living connection is replaced by a newer one, but not by an older one.
static void check_replacing(void) {
  struct target target;
  struct rd_frame frame;
  unsigned char stream[STREAM_BYTES + 1];
  start_receiver(&target);
  struct hostile second = meet_sending(&target, 2);
  CHECK(hostile_hear(&second, RD_FRAME_RESUME, &frame, NULL, NULL) && frame.offset == ACKNOWLEDGED);
  shake_in_vain(target_connect(&target), RD_ROLE_SENDER, true,
                (struct rd_hello){.version = RD_PROTOCOL_VERSION, .epoch = 2});
  struct hostile third = meet_sending(&target, 3);
  CHECK(hostile_hear(&third, RD_FRAME_RESUME, &frame, NULL, NULL) && frame.offset == ACKNOWLEDGED);
  CHECK(!hostile_hear(&second, RD_FRAME_DONE, &frame, NULL, NULL)); // it was closed
  hostile_say(&third, RD_FRAME_DATA, ACKNOWLEDGED, &STREAM[ACKNOWLEDGED], STREAM_BYTES - ACKNOWLEDGED);
  say_end(&third, STREAM_BYTES, 0);
  CHECK(hostile_hear(&third, RD_FRAME_DONE, &frame, NULL, NULL));
  say_empty(&third, RD_FRAME_BYE);
  hostile_leave(&second);
  hostile_leave(&third);
  CHECK(target_ends(&target, RD_CODE_OK));
  int fd = open(sink_path, O_RDONLY | O_CLOEXEC);
  CHECK(rd_read_some(fd, stream, sizeof stream) == STREAM_BYTES && memcmp(stream, STREAM, STREAM_BYTES) == 0);
  close(fd);
  unlink(sink_path);
}

int main(void) {
  make_stream_files("reconnect_violations");
  int fd = open(source_path, O_WRONLY | O_CREAT | O_CLOEXEC, 0600);
  REQUIRE(fd >= 0 && rd_write_all(fd, STREAM, STREAM_BYTES));
  close(fd);
  check_violations();
  check_epochs(2);
  check_epochs(1000);
  check_epochs(UINT32_MAX - 1);
  check_replacing();
  CHECK(access(sink_path, F_OK) < 0);
  remove_stream_files();
  return test_end("reconnect_violations");
}
