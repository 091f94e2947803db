// SPDX-License-Identifier: Apache-2.0
#include "hop/climb.h"

#include "test.h"

#define MIB (1u << 20)

static struct rd_climb climb;
static struct rd_progress progress;

static void begin(void) {
  climb = (struct rd_climb){0};
  progress = (struct rd_progress){.rtt_us = 50000, .now_ms = 1000000};
}

// Moves this much in each of `seconds`, in steps of 100 ms. Returns the lanes at the end.
static unsigned move(unsigned seconds, unsigned mib_per_s, int64_t idle_ms_per_s) {
  unsigned lanes = 0;
  for (unsigned i = 0; i < 10 * seconds; i++) {
    progress.moved_bytes += (uint64_t)mib_per_s * MIB / 10;
    progress.begun_bytes = progress.moved_bytes;
    progress.idle_ms += idle_ms_per_s / 10;
    progress.now_ms += 100;
    lanes = rd_climb_lanes(&climb, 16, true, &progress);
  }
  return lanes;
}

static void not_before_there_is_a_stream(void) {
  begin();
  progress.begun_bytes = MIB - 1;
  CHECK(rd_climb_lanes(&climb, 16, true, &progress) == 1 && rd_climb_lanes(&climb, 16, false, &progress) == 1);
  progress.begun_bytes = MIB;
  CHECK(rd_climb_lanes(&climb, 16, true, &progress) == RD_CLIMB_FIRST);
  CHECK(rd_climb_lanes(&climb, 9, false, &progress) == 9);
}

static void few_lanes(void) {
  begin();
  progress.begun_bytes = MIB;
  CHECK(rd_climb_lanes(&climb, 1, true, &progress) == 1 && rd_climb_lanes(&climb, 2, true, &progress) == 2);
  for (unsigned i = 0; i < 100; i++) {
    progress.moved_bytes += MIB * i;
    progress.now_ms += 100;
    CHECK(rd_climb_lanes(&climb, 3, true, &progress) <= 3);
  }
}

static void as_long_as_the_rate_rises(void) {
  begin();
  CHECK(move(1, 10, 0) == 4); // settles
  CHECK(move(2, 10, 0) == 8); // measured
  CHECK(move(1, 20, 0) == 8);
  CHECK(move(2, 20, 0) == 16);
  CHECK(move(20, 90, 0) == 16);
}

static void until_it_does_not_help(void) {
  begin();
  CHECK(move(3, 10, 0) == 8);
  CHECK(move(20, 11, 0) == 8);
}

static void not_for_a_slow_input(void) {
  begin();
  CHECK(move(20, 10, 900) == 4);
  CHECK(move(4, 10, 100) == 8);
}

static void a_long_round_trip(void) {
  begin();
  progress.rtt_us = 500000;
  CHECK(move(9, 10, 0) == 4 && move(3, 10, 0) == 8);
}

static void a_new_connection(void) {
  begin();
  CHECK(move(3, 10, 0) == 8);
  rd_climb_restart(&climb);
  CHECK(rd_climb_lanes(&climb, 16, true, &progress) == 8);
  CHECK(move(3, 20, 0) == 16);
}

int main(void) {
  not_before_there_is_a_stream();
  few_lanes();
  as_long_as_the_rate_rises();
  until_it_does_not_help();
  not_for_a_slow_input();
  a_long_round_trip();
  a_new_connection();
  return test_end("climb");
}
