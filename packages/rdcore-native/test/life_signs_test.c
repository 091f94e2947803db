// SPDX-License-Identifier: Apache-2.0
// When PING and PONG are owed, what is measured, and when a peer has stalled.
#include "life_signs.h"

#include "test.h"

#define MS 1000000ll
#define STALL_MS 5000

static struct rd_life_signs life;

static void start(void) {
  rd_life_signs_start(&life, STALL_MS, 0);
}

static bool take(enum rd_frame_type type, uint64_t number, int64_t now_ns) {
  const struct rd_frame frame = {.type = type, .offset = number};
  return rd_life_signs_take(&life, &frame, now_ns);
}

// The pings of a sender's beginning go out one after the other; the shortest round trip is kept.
static void test_measuring(void) {
  static const int64_t trips_us[] = {300, 120, 90, 200};
  int64_t now_ns = 0;
  start();
  CHECK(life.rtt_us == 0 && !life.owes_ping);
  rd_life_signs_measure(&life);
  for (uint64_t i = 0; i < RD_FIRST_PINGS; i++) {
    CHECK(life.owes_ping && life.pings == i);
    rd_life_signs_pinged(&life, now_ns);
    CHECK(!life.owes_ping);
    now_ns += trips_us[i] * 1000;
    CHECK(take(RD_FRAME_PONG, i, now_ns));
  }
  CHECK(!life.owes_ping && life.rtt_us == 90);
}

static void test_pongs_that_answer_nothing(void) {
  start();
  CHECK(take(RD_FRAME_PONG, 0, 5 * MS) && life.rtt_us == 0);
  rd_life_signs_measure(&life);
  rd_life_signs_pinged(&life, 5 * MS);
  CHECK(take(RD_FRAME_PONG, 1, 6 * MS) && life.rtt_us == 0 && !life.owes_ping);
  CHECK(take(RD_FRAME_PONG, 0, 5 * MS) && life.rtt_us == 1); // no time at all has passed
}

static void test_answering(void) {
  start();
  CHECK(take(RD_FRAME_PING, 77, MS) && life.owes_pong && life.pong_number == 77);
  CHECK(!take(RD_FRAME_DATA, 0, 2 * MS) && life.heard_at_ms == 2);
}

static void test_silence(void) {
  start();
  CHECK(rd_life_signs_timeout_ms(&life, 0) == RD_PING_AFTER_MS && rd_life_signs_tick(&life, 999) && !life.owes_ping);
  CHECK(rd_life_signs_tick(&life, 1000) && life.owes_ping);
  CHECK(rd_life_signs_timeout_ms(&life, 1000) == RD_PING_AFTER_MS); // as long as it cannot be sent
  rd_life_signs_pinged(&life, 1000 * MS);
  CHECK(rd_life_signs_tick(&life, 1500) && !life.owes_ping && rd_life_signs_timeout_ms(&life, 1500) == 500);
  CHECK(rd_life_signs_tick(&life, 2000) && life.owes_ping);
  CHECK(rd_life_signs_tick(&life, 3500) && rd_life_signs_tick(&life, 4999) && !rd_life_signs_tick(&life, 5000));
  CHECK(!take(RD_FRAME_DATA, 0, 5000 * MS) && rd_life_signs_tick(&life, 5001));
}

// A silence that we slept through says nothing about the peer.
static void test_own_stop(void) {
  start();
  CHECK(rd_life_signs_tick(&life, 60000) && rd_life_signs_tick(&life, 61000) && life.owes_ping);
}

int main(void) {
  test_measuring();
  test_pongs_that_answer_nothing();
  test_answering();
  test_silence();
  test_own_stop();
  return test_end("life_signs");
}
