// SPDX-License-Identifier: Apache-2.0
// Tests of each loop against protocol violations of a peer that holds the key.
// The loop ends with an error, and commits nothing.
#include "memory_transport.h"
#include "protocol_violations.h"
#include "recv_loop.h"
#include "script_control.h"
#include "send_loop.h"
#include "stream_files.h"

#include <fcntl.h>

static struct rd_error error;

static enum rd_encrypt encrypt_of(enum rd_protection wants) {
  static const enum rd_encrypt each[] = {RD_ENCRYPT_NEVER, RD_ENCRYPT_AUTH, RD_ENCRYPT_ALWAYS};
  return each[wants];
}

static void script(struct script *target, enum rd_role role, enum rd_protection wants, bool has_file,
                   struct rd_transport *transport) {
  bool sends = role == RD_ROLE_SENDER;
  script_init(target, sends ? rd_send_loop : rd_recv_loop);
  script_add(target, RD_COMMAND_OPEN)->settings =
      script_settings(encrypt_of(wants), HOSTILE_SLOTS * HOSTILE_SLOT_BYTES);
  if (has_file) strcpy(script_add(target, RD_COMMAND_FILE)->path, sends ? source_path : sink_path);
  struct rd_command *adopt = script_add(target, RD_COMMAND_ADOPT);
  adopt->transport = transport;
  adopt->is_dialer = sends;
  if (sends) script_add(target, RD_COMMAND_COMMIT);
}

static void check_violation(const struct violation *violation, enum rd_role role, enum rd_protection wants) {
  struct rd_transport *ends[2];
  struct script target;
  struct rd_frame frame;
  unsigned char payload[RD_CONTROL_PAYLOAD_MAX_BYTES];
  size_t bytes;
  struct rd_abort said = {.code = RD_CODE_OK};
  REQUIRE(rd_mem_pair(NULL, ends, &error));
  script(&target, role, wants, !violation->wants_no_output, ends[0]);
  script_start(&target);
  bool target_sends = role == RD_ROLE_SENDER;
  struct hostile hostile =
      hostile_meet(ends[1], target_sends ? RD_ROLE_RECEIVER : RD_ROLE_SENDER, !target_sends, wants);
  if (!target_sends) say_empty(&hostile, RD_FRAME_PING);
  violation->commit(&hostile);
  // It reports the reason before it closes the connection.
  bool right = CHECK(hostile_hear(&hostile, RD_FRAME_ABORT, &frame, payload, &bytes)) &&
               CHECK(rd_abort_decode(payload, bytes, &said, &error));
  hostile_leave(&hostile);
  script_join(&target);
  right = CHECK(target.code == RD_CODE_DATA_DAMAGED && said.code == target.code) && right;
  right = CHECK(!target.ended && access(sink_path, F_OK) < 0) && right;
  if (!right) fprintf(stderr, "%s, %s\n", violation->name, protection_words[wants]);
}

static void check_violations(const struct violation *violations, size_t count, enum rd_role role) {
  for (size_t i = 0; i < 3 * count; i++) check_violation(&violations[i / 3], role, (enum rd_protection)(i % 3));
}

// A consumer gets the frames before the one that was changed, and not a single byte of that one.
static void nothing_of_it_is_written(enum rd_protection wants, size_t bytes, size_t changed_at) {
  static unsigned char payload[HOSTILE_SLOT_BYTES], message[RD_HEADER_BYTES + HOSTILE_SLOT_BYTES + RD_TAG_BYTES];
  struct rd_transport *ends[2];
  struct script target;
  struct rd_frame frame, good = {.type = RD_FRAME_DATA, .epoch = 1}, bad = {.type = RD_FRAME_DATA, .epoch = 1};
  int output[2];
  REQUIRE(rd_mem_pair(NULL, ends, &error) && pipe2(output, O_CLOEXEC) == 0);
  script(&target, RD_ROLE_RECEIVER, wants, false, ends[0]);
  script_add(&target, RD_COMMAND_READY)->fd = output[1];
  script_start(&target);
  struct hostile hostile = hostile_meet(ends[1], RD_ROLE_SENDER, true, wants);
  say_empty(&hostile, RD_FRAME_PING);
  hostile_say_frame(&hostile, good, wants, "good", 4);
  bad.offset = 4;
  size_t message_bytes = hostile_make(&hostile, bad, wants, payload, bytes, message);
  message[changed_at] ^= 0x80;
  hostile_send(&hostile, message, message_bytes);
  CHECK(hostile_hear(&hostile, RD_FRAME_ABORT, &frame, NULL, NULL));
  hostile_leave(&hostile);
  script_join(&target);
  CHECK(target.code == RD_CODE_DATA_DAMAGED && !target.ended);
  close(output[1]);
  char said[64];
  CHECK(read(output[0], said, sizeof said) <= 4); // it may end before it has written the correct bytes
  close(output[0]);
}

static void changed_frames(void) {
  static const size_t sizes[] = {1, RD_SMALL_BYTES, HOSTILE_SLOT_BYTES};
  for (enum rd_protection wants = RD_PROTECTION_MAC; wants <= RD_PROTECTION_SEAL; wants++)
    for (size_t i = 0; i < sizeof sizes / sizeof sizes[0]; i++) {
      nothing_of_it_is_written(wants, sizes[i], RD_HEADER_BYTES);                               // the payload
      nothing_of_it_is_written(wants, sizes[i], RD_HEADER_BYTES + sizes[i] - 1);                // its last byte
      nothing_of_it_is_written(wants, sizes[i], RD_HEADER_BYTES + sizes[i] + RD_TAG_BYTES - 1); // the tag
    }
}

int main(void) {
  make_stream_files("loop_violations");
  write_source(10);
  check_violations(violations_of_either, VIOLATIONS_COUNT(violations_of_either), RD_ROLE_RECEIVER);
  check_violations(sender_violations, VIOLATIONS_COUNT(sender_violations), RD_ROLE_RECEIVER);
  hostile_compresses = false;
  check_violations(plain_sender_violations, VIOLATIONS_COUNT(plain_sender_violations), RD_ROLE_RECEIVER);
  hostile_compresses = true;
  check_violations(violations_of_either, VIOLATIONS_COUNT(violations_of_either), RD_ROLE_SENDER);
  check_violations(receiver_violations, VIOLATIONS_COUNT(receiver_violations), RD_ROLE_SENDER);
  changed_frames();
  CHECK(access(sink_path, F_OK) < 0);
  remove_stream_files();
  return test_end("loop_violations");
}
