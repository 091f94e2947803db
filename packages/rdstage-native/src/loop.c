// SPDX-License-Identifier: Apache-2.0
#include "loop.h"

#include "io.h"
#include "memory.h"

#include <errno.h>
#include <limits.h>
#include <poll.h>
#include <stdlib.h>

struct watch {
  int fd;
  short events;
  bool ended; // freed at the end of the turn: a callback may end a watch that is still to be called
  watch_function *function;
  void *context;
};

struct loop {
  struct watch **watches;
  size_t count, capacity;
  struct pollfd *polled;
  struct timer *timers;
};

static int until_next_timer(const struct loop *loop);
static void call_watches(struct loop *loop, size_t count);
static void call_timers(struct loop *loop);
static void forget_ended(struct loop *loop);

struct loop *loop_create(void) {
  return memory_new(1, sizeof(struct loop));
}

void loop_destroy(struct loop *loop) {
  if (!loop) return;
  for (size_t i = 0; i < loop->count; i++) free(loop->watches[i]);
  free(loop->watches);
  free(loop->polled);
  free(loop);
}

struct watch *loop_watch(struct loop *loop, int fd, short events, watch_function *function, void *context) {
  if (loop->count == loop->capacity) {
    loop->capacity = loop->capacity ? 2 * loop->capacity : 16;
    loop->watches = memory_resize(loop->watches, loop->capacity, sizeof(struct watch *));
    loop->polled = memory_resize(loop->polled, loop->capacity, sizeof *loop->polled);
  }
  struct watch *watch = memory_new(1, sizeof *watch);
  *watch = (struct watch){.fd = fd, .events = events, .function = function, .context = context};
  loop->watches[loop->count++] = watch;
  return watch;
}

void watch_change(struct watch *watch, short events) {
  watch->events = events;
}

void watch_end(struct watch **watch) {
  if (*watch) (*watch)->ended = true;
  *watch = NULL;
}

void loop_timer(struct loop *loop, struct timer *timer, int64_t after_ms, timer_function *function, void *context) {
  loop_timer_stop(loop, timer);
  *timer =
      (struct timer){.due_ms = rd_now_ms() + after_ms, .function = function, .context = context, .next = loop->timers};
  loop->timers = timer;
}

void loop_timer_stop(struct loop *loop, struct timer *timer) {
  for (struct timer **at = &loop->timers; *at; at = &(*at)->next) {
    if (*at != timer) continue;
    *at = timer->next;
    break;
  }
  timer->function = NULL;
}

bool loop_turn(struct loop *loop, struct rd_error *error) {
  forget_ended(loop);
  size_t count = loop->count;
  for (size_t i = 0; i < count; i++) {
    const struct watch *watch = loop->watches[i];
    bool polled = watch->events != WATCH_NOTHING;
    loop->polled[i] = (struct pollfd){.fd = polled ? watch->fd : -1, .events = (short)(polled ? watch->events : 0)};
  }
  if (poll(loop->polled, (nfds_t)count, until_next_timer(loop)) < 0 && errno != EINTR) {
    rd_error_set_errno(error, RD_CODE_INTERNAL, "cannot wait for events");
    return false;
  }
  // Callbacks may add watches, which moves the arrays; the first `count` entries stay the ones that were polled.
  call_watches(loop, count);
  call_timers(loop);
  return true;
}

static int until_next_timer(const struct loop *loop) {
  if (!loop->timers) return -1;
  int64_t first_ms = INT64_MAX;
  for (const struct timer *timer = loop->timers; timer; timer = timer->next)
    if (timer->due_ms < first_ms) first_ms = timer->due_ms;
  int64_t left_ms = first_ms - rd_now_ms();
  if (left_ms < 0) return 0;
  return left_ms > INT_MAX ? INT_MAX : (int)left_ms;
}

static void call_watches(struct loop *loop, size_t count) {
  for (size_t i = 0; i < count; i++) {
    struct watch *watch = loop->watches[i];
    short ready = loop->polled[i].revents;
    if (!ready || watch->ended || watch->events == WATCH_NOTHING) continue;
    watch->function(watch->context, ready);
  }
}

static void call_timers(struct loop *loop) {
  int64_t now_ms = rd_now_ms();
  struct timer *timer = loop->timers;
  while (timer) {
    if (timer->due_ms > now_ms) {
      timer = timer->next;
      continue;
    }
    timer_function *function = timer->function;
    loop_timer_stop(loop, timer);
    function(timer->context);
    timer = loop->timers; // the callback may have changed the list
  }
}

static void forget_ended(struct loop *loop) {
  size_t kept = 0;
  for (size_t i = 0; i < loop->count; i++) {
    if (loop->watches[i]->ended)
      free(loop->watches[i]);
    else
      loop->watches[kept++] = loop->watches[i];
  }
  loop->count = kept;
}
