// SPDX-License-Identifier: Apache-2.0
// Each loop against a peer that holds the key and breaks the rules: it ends in words, and nothing is committed.
#include "misdeeds.h"
#include "recv_loop.h"
#include "script_control.h"
#include "send_loop.h"
#include "stream_files.h"

static struct rd_error error;

static void script(struct script *victim, enum rd_role role, bool sealed, bool has_file,
                   struct rd_transport *transport) {
  bool sends = role == RD_ROLE_SENDER;
  script_init(victim, sends ? rd_send_loop : rd_recv_loop);
  script_add(victim, RD_ORDER_OPEN)->settings =
      script_settings(sealed ? RD_ENCRYPT_ALWAYS : RD_ENCRYPT_NEVER, HOSTILE_SLOTS * HOSTILE_SLOT_BYTES);
  if (has_file) strcpy(script_add(victim, RD_ORDER_FILE)->path, sends ? source_path : sink_path);
  struct rd_order *adopt = script_add(victim, RD_ORDER_ADOPT);
  adopt->transport = transport;
  adopt->dialler = sends;
  if (sends) script_add(victim, RD_ORDER_COMMIT);
}

static void check_misdeed(const struct misdeed *misdeed, enum rd_role role, bool sealed) {
  struct rd_transport *ends[2];
  struct script victim;
  struct rd_frame frame;
  unsigned char payload[RD_CONTROL_PAYLOAD_MAX_BYTES];
  size_t bytes;
  struct rd_abort said = {.code = RD_CODE_OK};
  REQUIRE(rd_mem_pair(NULL, ends, &error));
  script(&victim, role, sealed, !misdeed->wants_no_output, ends[0]);
  script_start(&victim);
  bool victim_sends = role == RD_ROLE_SENDER;
  struct hostile hostile =
      hostile_meet(ends[1], victim_sends ? RD_ROLE_RECEIVER : RD_ROLE_SENDER, !victim_sends, sealed);
  if (!victim_sends) say_empty(&hostile, RD_FRAME_PING);
  misdeed->commit(&hostile);
  // It says why before it goes.
  bool right = CHECK(hostile_hear(&hostile, RD_FRAME_ABORT, &frame, payload, &bytes)) &&
               CHECK(rd_abort_decode(payload, bytes, &said, &error));
  hostile_leave(&hostile);
  script_join(&victim);
  right = CHECK(victim.code == RD_CODE_DATA_DAMAGED && said.code == victim.code) && right;
  right = CHECK(!victim.ended && access(sink_path, F_OK) < 0) && right;
  if (!right) fprintf(stderr, "%s, %s\n", misdeed->name, sealed ? "sealed" : "plain");
}

static void check_misdeeds(const struct misdeed *misdeeds, size_t count, enum rd_role role) {
  for (size_t i = 0; i < 2 * count; i++) check_misdeed(&misdeeds[i / 2], role, i & 1);
}

int main(void) {
  make_stream_files("peers");
  write_source(10);
  check_misdeeds(misdeeds_of_either, MISDEEDS_COUNT(misdeeds_of_either), RD_ROLE_RECEIVER);
  check_misdeeds(senders_misdeeds, MISDEEDS_COUNT(senders_misdeeds), RD_ROLE_RECEIVER);
  check_misdeeds(misdeeds_of_either, MISDEEDS_COUNT(misdeeds_of_either), RD_ROLE_SENDER);
  check_misdeeds(receivers_misdeeds, MISDEEDS_COUNT(receivers_misdeeds), RD_ROLE_SENDER);
  CHECK(access(sink_path, F_OK) < 0);
  remove_stream_files();
  return test_end("peers");
}
