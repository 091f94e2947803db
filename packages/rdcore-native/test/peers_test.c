// SPDX-License-Identifier: Apache-2.0
// Each loop against a peer that holds the key and breaks the rules: it ends by a message, and nothing is committed.
#include "hop/recv_loop.h"
#include "hop/send_loop.h"
#include "memory_transport.h"
#include "misdeeds.h"
#include "script_control.h"
#include "stream_files.h"

#include <fcntl.h>

static struct rd_error error;

static enum rd_encrypt encrypt_of(enum rd_protection wants) {
  static const enum rd_encrypt each[] = {RD_ENCRYPT_NEVER, RD_ENCRYPT_AUTH, RD_ENCRYPT_ALWAYS};
  return each[wants];
}

static void script(struct script *victim, enum rd_role role, enum rd_protection wants, bool has_file,
                   struct rd_transport *transport) {
  bool sends = role == RD_ROLE_SENDER;
  script_init(victim, sends ? rd_send_loop : rd_recv_loop);
  script_add(victim, RD_COMMAND_OPEN)->settings =
      script_settings(encrypt_of(wants), HOSTILE_SLOTS * HOSTILE_SLOT_BYTES);
  if (has_file) strcpy(script_add(victim, RD_COMMAND_FILE)->path, sends ? source_path : sink_path);
  struct rd_command *adopt = script_add(victim, RD_COMMAND_ADOPT);
  adopt->transport = transport;
  adopt->is_dialer = sends;
  if (sends) script_add(victim, RD_COMMAND_COMMIT);
}

static void check_misdeed(const struct misdeed *misdeed, enum rd_role role, enum rd_protection wants) {
  struct rd_transport *ends[2];
  struct script victim;
  struct rd_frame frame;
  unsigned char payload[RD_CONTROL_PAYLOAD_MAX_BYTES];
  size_t bytes;
  struct rd_abort said = {.code = RD_CODE_OK};
  REQUIRE(rd_mem_pair(NULL, ends, &error));
  script(&victim, role, wants, !misdeed->wants_no_output, ends[0]);
  script_start(&victim);
  bool victim_sends = role == RD_ROLE_SENDER;
  struct hostile hostile =
      hostile_meet(ends[1], victim_sends ? RD_ROLE_RECEIVER : RD_ROLE_SENDER, !victim_sends, wants);
  if (!victim_sends) say_empty(&hostile, RD_FRAME_PING);
  misdeed->commit(&hostile);
  // It says why before it goes.
  bool right = CHECK(hostile_hear(&hostile, RD_FRAME_ABORT, &frame, payload, &bytes)) &&
               CHECK(rd_abort_decode(payload, bytes, &said, &error));
  hostile_leave(&hostile);
  script_join(&victim);
  right = CHECK(victim.code == RD_CODE_DATA_DAMAGED && said.code == victim.code) && right;
  right = CHECK(!victim.ended && access(sink_path, F_OK) < 0) && right;
  if (!right) fprintf(stderr, "%s, %s\n", misdeed->name, protection_words[wants]);
}

static void check_misdeeds(const struct misdeed *misdeeds, size_t count, enum rd_role role) {
  for (size_t i = 0; i < 3 * count; i++) check_misdeed(&misdeeds[i / 3], role, (enum rd_protection)(i % 3));
}

// A consumer gets the frames before the one that somebody changed, and not a byte of that one.
static void nothing_of_it_is_written(enum rd_protection wants, size_t bytes, size_t changed_at) {
  static unsigned char payload[HOSTILE_SLOT_BYTES], message[RD_HEADER_BYTES + HOSTILE_SLOT_BYTES + RD_TAG_BYTES];
  struct rd_transport *ends[2];
  struct script victim;
  struct rd_frame frame, good = {.type = RD_FRAME_DATA, .epoch = 1}, bad = {.type = RD_FRAME_DATA, .epoch = 1};
  int output[2];
  REQUIRE(rd_mem_pair(NULL, ends, &error) && pipe2(output, O_CLOEXEC) == 0);
  script(&victim, RD_ROLE_RECEIVER, wants, false, ends[0]);
  script_add(&victim, RD_COMMAND_READY)->fd = output[1];
  script_start(&victim);
  struct hostile hostile = hostile_meet(ends[1], RD_ROLE_SENDER, true, wants);
  say_empty(&hostile, RD_FRAME_PING);
  hostile_say_frame(&hostile, good, wants, "good", 4);
  bad.offset = 4;
  size_t message_bytes = hostile_make(&hostile, bad, wants, payload, bytes, message);
  message[changed_at] ^= 0x80;
  hostile_send(&hostile, message, message_bytes);
  CHECK(hostile_hear(&hostile, RD_FRAME_ABORT, &frame, NULL, NULL));
  hostile_leave(&hostile);
  script_join(&victim);
  CHECK(victim.code == RD_CODE_DATA_DAMAGED && !victim.ended);
  close(output[1]);
  char said[64];
  CHECK(read(output[0], said, sizeof said) <= 4); // it may end before it wrote what was right
  close(output[0]);
}

static void changed_frames(void) {
  static const size_t sizes[] = {1, RD_SMALL_BYTES, HOSTILE_SLOT_BYTES};
  for (enum rd_protection wants = RD_PROTECTION_MAC; wants <= RD_PROTECTION_SEAL; wants++)
    for (size_t i = 0; i < sizeof sizes / sizeof sizes[0]; i++) {
      nothing_of_it_is_written(wants, sizes[i], RD_HEADER_BYTES);                               // the payload
      nothing_of_it_is_written(wants, sizes[i], RD_HEADER_BYTES + sizes[i] - 1);                // its end
      nothing_of_it_is_written(wants, sizes[i], RD_HEADER_BYTES + sizes[i] + RD_TAG_BYTES - 1); // the tag
    }
}

int main(void) {
  make_stream_files("peers");
  write_source(10);
  check_misdeeds(misdeeds_of_either, MISDEEDS_COUNT(misdeeds_of_either), RD_ROLE_RECEIVER);
  check_misdeeds(senders_misdeeds, MISDEEDS_COUNT(senders_misdeeds), RD_ROLE_RECEIVER);
  hostile_compresses = false;
  check_misdeeds(plain_senders_misdeeds, MISDEEDS_COUNT(plain_senders_misdeeds), RD_ROLE_RECEIVER);
  hostile_compresses = true;
  check_misdeeds(misdeeds_of_either, MISDEEDS_COUNT(misdeeds_of_either), RD_ROLE_SENDER);
  check_misdeeds(receivers_misdeeds, MISDEEDS_COUNT(receivers_misdeeds), RD_ROLE_SENDER);
  changed_frames();
  CHECK(access(sink_path, F_OK) < 0);
  remove_stream_files();
  return test_end("peers");
}
