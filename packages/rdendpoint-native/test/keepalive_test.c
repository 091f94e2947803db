// SPDX-License-Identifier: Apache-2.0
// When PING and PONG are due, which round trips are measured, and when a peer has stalled.
#include "conn/keepalive.h"

#include "test.h"

#define MS 1000000ll
#define STALL_MS 5000

static struct rd_keepalive keepalive;

static void start(void) {
  rd_keepalive_start(&keepalive, STALL_MS, 0);
}

static bool take(enum rd_frame_type type, uint64_t number, int64_t now_ns) {
  const struct rd_frame frame = {.type = type, .offset = number};
  return rd_keepalive_take(&keepalive, &frame, now_ns);
}

// A sender's first PINGs are sent one after the other; the shortest round trip is kept.
static void test_measuring(void) {
  static const int64_t trips_us[] = {300, 120, 90, 200};
  int64_t now_ns = 0;
  start();
  CHECK(keepalive.rtt_us == 0 && !keepalive.ping_pending);
  rd_keepalive_measure(&keepalive);
  for (uint64_t i = 0; i < RD_FIRST_PINGS; i++) {
    CHECK(keepalive.ping_pending && keepalive.pings == i);
    rd_keepalive_pinged(&keepalive, now_ns);
    CHECK(!keepalive.ping_pending);
    now_ns += trips_us[i] * 1000;
    CHECK(take(RD_FRAME_PONG, i, now_ns));
  }
  CHECK(!keepalive.ping_pending && keepalive.rtt_us == 90);
}

static void test_pongs_that_answer_nothing(void) {
  start();
  CHECK(take(RD_FRAME_PONG, 0, 5 * MS) && keepalive.rtt_us == 0);
  rd_keepalive_measure(&keepalive);
  rd_keepalive_pinged(&keepalive, 5 * MS);
  CHECK(take(RD_FRAME_PONG, 1, 6 * MS) && keepalive.rtt_us == 0 && !keepalive.ping_pending);
  CHECK(take(RD_FRAME_PONG, 0, 5 * MS) && keepalive.rtt_us == 1); // no time at all has passed
}

static void test_answering(void) {
  start();
  CHECK(take(RD_FRAME_PING, 77, MS) && keepalive.pong_pending && keepalive.pong_number == 77);
  CHECK(!take(RD_FRAME_DATA, 0, 2 * MS) && keepalive.received_at_ms == 2);
}

static void test_silence(void) {
  start();
  CHECK(rd_keepalive_timeout_ms(&keepalive, 0) == RD_PING_AFTER_MS && rd_keepalive_tick(&keepalive, 999) &&
        !keepalive.ping_pending);
  CHECK(rd_keepalive_tick(&keepalive, 1000) && keepalive.ping_pending);
  CHECK(rd_keepalive_timeout_ms(&keepalive, 1000) == RD_PING_AFTER_MS); // while it cannot be sent
  rd_keepalive_pinged(&keepalive, 1000 * MS);
  CHECK(rd_keepalive_tick(&keepalive, 1500) && !keepalive.ping_pending &&
        rd_keepalive_timeout_ms(&keepalive, 1500) == 500);
  CHECK(rd_keepalive_tick(&keepalive, 2000) && keepalive.ping_pending);
  CHECK(rd_keepalive_tick(&keepalive, 3500) && rd_keepalive_tick(&keepalive, 4999) &&
        !rd_keepalive_tick(&keepalive, 5000));
  CHECK(!take(RD_FRAME_DATA, 0, 5000 * MS) && rd_keepalive_tick(&keepalive, 5001));
}

// Silence while this process was stopped does not mean that the peer is lost.
static void test_own_stop(void) {
  start();
  CHECK(rd_keepalive_tick(&keepalive, 60000) && rd_keepalive_tick(&keepalive, 61000) && keepalive.ping_pending);
}

int main(void) {
  test_measuring();
  test_pongs_that_answer_nothing();
  test_answering();
  test_silence();
  test_own_stop();
  return test_end("keepalive");
}
