// SPDX-License-Identifier: Apache-2.0
// Tests of watches and timers: those that are due are called, and those that were ended are not.
#include "base/io.h"
#include "runtime/loop.h"
#include "test.h"

#include <poll.h>
#include <unistd.h>

struct watched {
  struct rd_loop *loop;
  int ends[2];
  struct rd_watch *watch;
  unsigned calls;
  short ready;
  struct watched *target; // the watch of `target` is ended when this one is called
};

static void on_ready(void *context, short ready) {
  struct watched *watched = context;
  watched->calls++;
  watched->ready = ready;
  if (watched->target != NULL) rd_watch_end(&watched->target->watch);
}

static void open_watched(struct watched *watched, struct rd_loop *loop, short events) {
  *watched = (struct watched){.loop = loop};
  REQUIRE(!pipe(watched->ends));
  watched->watch = rd_loop_watch(loop, watched->ends[0], events, on_ready, watched);
}

static void close_watched(struct watched *watched) {
  rd_watch_end(&watched->watch);
  close(watched->ends[0]);
  close(watched->ends[1]);
}

static void count_call(void *context) {
  ++*(unsigned *)context;
}

static void turn(struct rd_loop *loop) {
  struct rd_error error;
  CHECK(rd_loop_turn(loop, &error));
}

static void test_watches(void) {
  struct rd_loop *loop = rd_loop_create();
  struct watched one, two;
  open_watched(&one, loop, POLLIN);
  open_watched(&two, loop, RD_WATCH_NOTHING);
  REQUIRE(write(one.ends[1], "x", 1) == 1 && write(two.ends[1], "x", 1) == 1);
  turn(loop);
  CHECK(one.calls == 1 && one.ready == POLLIN && two.calls == 0);
  rd_watch_change(two.watch, POLLIN);
  one.target = &two; // the callback that is called first ends the other watch
  two.target = &one;
  turn(loop);
  CHECK(one.calls + two.calls == 2);
  CHECK(!one.watch != !two.watch);
  close_watched(&one);
  close_watched(&two);
  rd_loop_destroy(loop);
}

static void test_many_watches(void) {
  struct rd_loop *loop = rd_loop_create();
  struct watched many[100];
  for (size_t i = 0; i < 100; i++) open_watched(&many[i], loop, POLLIN);
  REQUIRE(write(many[99].ends[1], "x", 1) == 1);
  turn(loop);
  CHECK(many[99].calls == 1 && many[0].calls == 0);
  for (size_t i = 0; i < 100; i++) close_watched(&many[i]);
  rd_loop_destroy(loop);
}

static void test_timers(void) {
  struct rd_loop *loop = rd_loop_create();
  struct rd_timer soon = {0}, later = {0}, never = {0};
  unsigned soon_calls = 0, later_calls = 0, never_calls = 0;
  int64_t began_ms = rd_now_ms();
  rd_loop_timer(loop, &later, 60, count_call, &later_calls);
  rd_loop_timer(loop, &soon, 5000, count_call, &soon_calls);
  rd_loop_timer(loop, &soon, 20, count_call, &soon_calls); // restarted
  rd_loop_timer(loop, &never, 30, count_call, &never_calls);
  rd_loop_timer_stop(loop, &never);
  turn(loop);
  int64_t passed_ms = rd_now_ms() - began_ms;
  CHECK(soon_calls == 1 && passed_ms >= 20 && (later_calls == 0 || passed_ms >= 60)); // both, if this was slow
  CHECK(soon.function == NULL && (later.function == NULL) == (later_calls == 1));
  if (later_calls == 0) turn(loop);
  CHECK(soon_calls == 1 && later_calls == 1 && never_calls == 0 && rd_now_ms() - began_ms >= 60);
  rd_loop_destroy(loop);
}

int main(void) {
  alarm((unsigned)WAIT_MS / 1000);
  test_watches();
  test_many_watches();
  test_timers();
  return test_end("rdstage loop");
}
