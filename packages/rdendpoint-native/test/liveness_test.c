// SPDX-License-Identifier: Apache-2.0
// When a hop's peer is alive, silent or stalled, and for how long a broken connection may be replaced.
#include "hop/liveness.h"

#include "test.h"

#define STALL_MS 30000
#define CONNECTED_MS 1000 // on the clock
#define PASS_MS 250       // between two passes of an idle loop

static struct rd_liveness liveness;
static int64_t now_ms;
static uint64_t moved_bytes;

static void start(void) {
  now_ms = CONNECTED_MS;
  moved_bytes = 0;
  rd_liveness_start(&liveness, STALL_MS, 0);
  rd_liveness_connected(&liveness, true, now_ms);
}

// Passes until `until_ms`, in a loop that received something from its peer `silent_ms` before each pass.
static enum rd_peer_life pass_until(int64_t until_ms, int64_t silent_ms, uint32_t rtt_us) {
  enum rd_peer_life life = RD_PEER_ALIVE;
  for (; now_ms <= until_ms && life != RD_PEER_STALLED; now_ms += PASS_MS) {
    CHECK(!rd_liveness_pass(&liveness, now_ms));
    life = rd_liveness_check(&liveness, silent_ms, rtt_us, moved_bytes, now_ms);
  }
  now_ms -= PASS_MS;
  return life;
}

// The peer has sent nothing since `heard_at_ms`.
static enum rd_peer_life check(int64_t at_ms, int64_t heard_at_ms, uint32_t rtt_us) {
  now_ms = at_ms;
  return rd_liveness_check(&liveness, at_ms - heard_at_ms, rtt_us, moved_bytes, at_ms);
}

static void test_silence(void) {
  start();
  CHECK(check(CONNECTED_MS, CONNECTED_MS, 0) == RD_PEER_ALIVE);
  CHECK(check(CONNECTED_MS + RD_SILENT_MS - 1, CONNECTED_MS, 0) == RD_PEER_ALIVE);
  CHECK(check(CONNECTED_MS + RD_SILENT_MS, CONNECTED_MS, 0) == RD_PEER_SILENT);
  // At a round trip of 2 s, a PING may take four round trips.
  CHECK(check(CONNECTED_MS + RD_SILENT_MS, CONNECTED_MS, 2000000) == RD_PEER_ALIVE);
  CHECK(check(CONNECTED_MS + RD_SILENT_MS + 7999, CONNECTED_MS, 2000000) == RD_PEER_ALIVE);
  CHECK(check(CONNECTED_MS + RD_SILENT_MS + 8000, CONNECTED_MS, 2000000) == RD_PEER_SILENT);
  CHECK(check(CONNECTED_MS + 10000, CONNECTED_MS + 10000, 0) == RD_PEER_ALIVE); // it was only slow
}

static void test_refused_beside_a_silent_one(void) {
  start();
  CHECK(check(5000, CONNECTED_MS, 0) == RD_PEER_SILENT);
  rd_liveness_refused(&liveness, 5100);
  CHECK(check(5100, CONNECTED_MS, 0) == RD_PEER_REFUSED);
  CHECK(check(5100 + RD_SILENT_MS - 1, CONNECTED_MS, 0) == RD_PEER_REFUSED);
  CHECK(check(5100 + RD_SILENT_MS, CONNECTED_MS, 0) == RD_PEER_SILENT);
}

// PONGs on a connection that lasts are signs of life, even if no data moves: the output may accept none.
static void test_idle_for_an_hour(void) {
  start();
  CHECK(pass_until(3600000, 500, 100) == RD_PEER_ALIVE);
  CHECK(rd_liveness_lifeless_ms(&liveness, now_ms) <= 1000);
}

// Connections that complete the handshake, carry no data, and break soon after.
static void test_handshakes_without_data(void) {
  enum rd_peer_life life = RD_PEER_ALIVE;
  start();
  while (life != RD_PEER_STALLED && now_ms < 10 * STALL_MS) {
    int64_t connected_at_ms = now_ms;
    rd_liveness_connected(&liveness, false, connected_at_ms);
    life = pass_until(connected_at_ms + RD_SILENT_MS - PASS_MS, 0, 100);
    if (life == RD_PEER_STALLED) break;
    CHECK(life == RD_PEER_ALIVE);
    rd_liveness_broken(&liveness, true, now_ms);
    CHECK(rd_liveness_may_reconnect(&liveness, now_ms) == (now_ms < CONNECTED_MS + STALL_MS));
  }
  CHECK(life == RD_PEER_STALLED);
  CHECK(rd_liveness_lifeless_ms(&liveness, now_ms) == STALL_MS + RD_SILENT_MS);
}

// The same, but each moved one byte.
static void test_short_connections_with_data(void) {
  start();
  while (now_ms < 10 * STALL_MS) {
    rd_liveness_connected(&liveness, false, now_ms);
    moved_bytes++;
    CHECK(pass_until(now_ms + PASS_MS, 0, 100) == RD_PEER_ALIVE);
    rd_liveness_broken(&liveness, false, now_ms);
    CHECK(rd_liveness_may_reconnect(&liveness, now_ms));
  }
}

// This process was stopped for an hour: the peer is as alive as before.
static void test_own_stop(void) {
  start();
  CHECK(pass_until(CONNECTED_MS + 1000, 0, 100) == RD_PEER_ALIVE);
  now_ms += 3600000;
  CHECK(rd_liveness_pass(&liveness, now_ms));
  CHECK(rd_liveness_lifeless_ms(&liveness, now_ms) <= 1000);
  CHECK(check(now_ms, now_ms, 100) == RD_PEER_ALIVE); // as if the connection had just received something
  CHECK(!rd_liveness_pass(&liveness, now_ms + RD_STOPPED_AFTER_MS));
  CHECK(rd_liveness_pass(&liveness, now_ms + 2 * RD_STOPPED_AFTER_MS + 1));
}

// The peer may use all of its time for another connection, even if this process was stopped meanwhile.
static void test_own_stop_while_reconnecting(void) {
  start();
  rd_liveness_broken(&liveness, true, now_ms);
  CHECK(!rd_liveness_pass(&liveness, now_ms + 1000) && rd_liveness_pass(&liveness, now_ms + 61000));
  CHECK(rd_liveness_may_reconnect(&liveness, now_ms + 60000 + RD_CLOSED_RECONNECT_MS - 1));
  CHECK(!rd_liveness_may_reconnect(&liveness, now_ms + 60000 + RD_CLOSED_RECONNECT_MS));
}

static void test_reconnecting_in_time(void) {
  start();
  CHECK(pass_until(20000, 0, 100) == RD_PEER_ALIVE);
  // The network went away: the peer has the stall timeout since its last sign of life.
  rd_liveness_broken(&liveness, false, 24000);
  CHECK(rd_liveness_may_reconnect(&liveness, 20000 + STALL_MS - 1));
  CHECK(!rd_liveness_may_reconnect(&liveness, 20000 + STALL_MS));
  // The peer closed it: the peer has a few seconds.
  rd_liveness_broken(&liveness, true, 24000);
  CHECK(rd_liveness_may_reconnect(&liveness, 24000 + RD_CLOSED_RECONNECT_MS - 1));
  CHECK(!rd_liveness_may_reconnect(&liveness, 24000 + RD_CLOSED_RECONNECT_MS));
  // But not longer than the stall timeout.
  rd_liveness_broken(&liveness, true, 20000 + STALL_MS - 1000);
  CHECK(rd_liveness_may_reconnect(&liveness, 20000 + STALL_MS - 1));
  CHECK(!rd_liveness_may_reconnect(&liveness, 20000 + STALL_MS));
}

// The hop's second connection: data moves again before the first check.
static void test_life_after_reconnecting(void) {
  start();
  rd_liveness_broken(&liveness, false, 25000);
  rd_liveness_connected(&liveness, false, 30000);
  CHECK(rd_liveness_lifeless_ms(&liveness, 30000) == 30000 - CONNECTED_MS);
  CHECK(check(30100, 30050, 100) == RD_PEER_ALIVE && rd_liveness_lifeless_ms(&liveness, 30100) == 29100);
  moved_bytes = 4096;
  CHECK(check(30200, 30150, 100) == RD_PEER_ALIVE && rd_liveness_lifeless_ms(&liveness, 30200) == 50);
}

int main(void) {
  test_silence();
  test_refused_beside_a_silent_one();
  test_idle_for_an_hour();
  test_handshakes_without_data();
  test_short_connections_with_data();
  test_own_stop();
  test_own_stop_while_reconnecting();
  test_reconnecting_in_time();
  test_life_after_reconnecting();
  return test_end("liveness");
}
