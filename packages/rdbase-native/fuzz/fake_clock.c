// SPDX-License-Identifier: Apache-2.0
#include "fake_clock.h"

#include "fuzz.h"

#include <errno.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#define POLLS_MAX 64u
#define BEGINNING_NS INT64_C(1000000000000)
#define NS_A_MS 1000000
#define NS_A_SECOND 1000000000
#define STEP_NS 50000 // duration of a wait that ended early

static const struct fake_world *world; // NULL: the system's clock
static bool is_in_turn;
static int64_t now_ns;
static unsigned turns;

static int wait_in_world(struct pollfd *polls, nfds_t count, int64_t timeout_ns);
static int look(struct pollfd *polls, nfds_t count);

void fake_clock_start(const struct fake_world *from_now_on) {
  world = from_now_on;
  now_ns = BEGINNING_NS;
  turns = 0;
  is_in_turn = false;
}

void fake_clock_stop(void) {
  world = NULL;
}

void fake_clock_pass(int64_t ms) {
  now_ns += ms * NS_A_MS;
}

int clock_gettime(clockid_t clock, struct timespec *now) {
  if (world == NULL || clock != CLOCK_MONOTONIC) return (int)syscall(SYS_clock_gettime, clock, now);
  *now = (struct timespec){.tv_sec = now_ns / NS_A_SECOND, .tv_nsec = now_ns % NS_A_SECOND};
  return 0;
}

int poll(struct pollfd *polls, nfds_t count, int timeout_ms) {
  if (world == NULL) return (int)syscall(SYS_poll, polls, count, timeout_ms);
  return wait_in_world(polls, count, timeout_ms < 0 ? -1 : (int64_t)timeout_ms * NS_A_MS);
}

int ppoll(struct pollfd *polls, nfds_t count, const struct timespec *timeout, const sigset_t *mask) {
  if (world == NULL) return (int)syscall(SYS_ppoll, polls, count, timeout, mask, 8);
  return wait_in_world(polls, count, timeout == NULL ? -1 : timeout->tv_sec * NS_A_SECOND + timeout->tv_nsec);
}

// A call from within the world's turn does not wait: it only checks the descriptors.
static int wait_in_world(struct pollfd *polls, nfds_t count, int64_t timeout_ns) {
  if (is_in_turn) return look(polls, count);
  FUZZ_REQUIRE(++turns < world->turns_most);
  is_in_turn = true;
  bool goes_on = timeout_ns == 0 || world->turn(world->context);
  is_in_turn = false;
  int ready = look(polls, count);
  FUZZ_REQUIRE(ready > 0 || goes_on || timeout_ns >= 0); // otherwise it would wait forever
  now_ns += ready == 0 && !goes_on && timeout_ns > STEP_NS ? timeout_ns : STEP_NS;
  return ready;
}

static int look(struct pollfd *polls, nfds_t count) {
  struct pollfd real[POLLS_MAX];
  FUZZ_REQUIRE(count <= POLLS_MAX);
  for (nfds_t i = 0; i < count; i++) {
    real[i] = polls[i];
    if (real[i].fd >= FAKE_FD) real[i].fd = -1;
  }
  int ready = (int)syscall(SYS_poll, real, count, 0);
  FUZZ_REQUIRE(ready >= 0 || errno == EINTR);
  ready = 0;
  for (nfds_t i = 0; i < count; i++) {
    bool is_worlds = polls[i].fd >= FAKE_FD;
    polls[i].revents = is_worlds ? world->ready(world->context, &polls[i]) : real[i].revents;
    if (polls[i].revents != 0) ready++;
  }
  return ready;
}
