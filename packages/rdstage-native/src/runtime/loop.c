// SPDX-License-Identifier: Apache-2.0
#include "runtime/loop.h"

#include "base/io.h"
#include "base/memory.h"

#include <errno.h>
#include <limits.h>
#include <poll.h>
#include <stdlib.h>

struct rd_watch {
  int fd;
  short events;
  bool ended; // freed at the end of the turn: a callback may end a watch that is still to be called
  rd_watch_function *function;
  void *context;
};

struct rd_loop {
  struct rd_watch **watches;
  size_t count, capacity;
  struct pollfd *polled;
  struct rd_timer *timers;
};

static int until_next_timer(const struct rd_loop *loop);
static void call_watches(struct rd_loop *loop, size_t count);
static void call_timers(struct rd_loop *loop);
static void forget_ended(struct rd_loop *loop);

struct rd_loop *rd_loop_create(void) {
  return rd_memory_new(1, sizeof(struct rd_loop));
}

void rd_loop_destroy(struct rd_loop *loop) {
  if (loop == NULL) return;
  for (size_t i = 0; i < loop->count; i++) free(loop->watches[i]);
  free(loop->watches);
  free(loop->polled);
  free(loop);
}

struct rd_watch *rd_loop_watch(struct rd_loop *loop, int fd, short events, rd_watch_function *function, void *context) {
  if (loop->count == loop->capacity) {
    loop->capacity = loop->capacity ? 2 * loop->capacity : 16;
    loop->watches = rd_memory_resize(loop->watches, loop->capacity, sizeof(struct rd_watch *));
    loop->polled = rd_memory_resize(loop->polled, loop->capacity, sizeof *loop->polled);
  }
  struct rd_watch *watch = rd_memory_new(1, sizeof *watch);
  *watch = (struct rd_watch){.fd = fd, .events = events, .function = function, .context = context};
  loop->watches[loop->count++] = watch;
  return watch;
}

void rd_watch_change(struct rd_watch *watch, short events) {
  watch->events = events;
}

void rd_watch_end(struct rd_watch **watch) {
  if (*watch != NULL) (*watch)->ended = true;
  *watch = NULL;
}

void rd_loop_timer(struct rd_loop *loop, struct rd_timer *timer, int64_t after_ms, rd_timer_function *function,
                   void *context) {
  rd_loop_timer_stop(loop, timer);
  *timer = (struct rd_timer){
      .due_ms = rd_now_ms() + after_ms, .function = function, .context = context, .next = loop->timers};
  loop->timers = timer;
}

void rd_loop_timer_stop(struct rd_loop *loop, struct rd_timer *timer) {
  for (struct rd_timer **at = &loop->timers; *at != NULL; at = &(*at)->next) {
    if (*at != timer) continue;
    *at = timer->next;
    break;
  }
  timer->function = NULL;
}

bool rd_loop_turn(struct rd_loop *loop, struct rd_error *error) {
  forget_ended(loop);
  size_t count = loop->count;
  for (size_t i = 0; i < count; i++) {
    const struct rd_watch *watch = loop->watches[i];
    bool polled = watch->events != RD_WATCH_NOTHING;
    loop->polled[i] = (struct pollfd){.fd = polled ? watch->fd : -1, .events = (short)(polled ? watch->events : 0)};
  }
  if (poll(loop->polled, (nfds_t)count, until_next_timer(loop)) < 0 && errno != EINTR) {
    rd_error_set_errno(error, RD_CODE_INTERNAL, "cannot wait for events");
    return false;
  }
  // Callbacks may add watches, which moves the arrays; the first `count` entries remain the ones that were polled.
  call_watches(loop, count);
  call_timers(loop);
  return true;
}

static int until_next_timer(const struct rd_loop *loop) {
  if (loop->timers == NULL) return -1;
  int64_t first_ms = INT64_MAX;
  for (const struct rd_timer *timer = loop->timers; timer != NULL; timer = timer->next)
    if (timer->due_ms < first_ms) first_ms = timer->due_ms;
  int64_t left_ms = first_ms - rd_now_ms();
  if (left_ms < 0) return 0;
  return left_ms > INT_MAX ? INT_MAX : (int)left_ms;
}

static void call_watches(struct rd_loop *loop, size_t count) {
  for (size_t i = 0; i < count; i++) {
    struct rd_watch *watch = loop->watches[i];
    short ready = loop->polled[i].revents;
    if (!ready || watch->ended || watch->events == RD_WATCH_NOTHING) continue;
    watch->function(watch->context, ready);
  }
}

static void call_timers(struct rd_loop *loop) {
  int64_t now_ms = rd_now_ms();
  struct rd_timer *timer = loop->timers;
  while (timer != NULL) {
    if (timer->due_ms > now_ms) {
      timer = timer->next;
      continue;
    }
    rd_timer_function *function = timer->function;
    rd_loop_timer_stop(loop, timer);
    function(timer->context);
    timer = loop->timers; // the callback may have changed the list
  }
}

static void forget_ended(struct rd_loop *loop) {
  size_t kept = 0;
  for (size_t i = 0; i < loop->count; i++) {
    if (loop->watches[i]->ended)
      free(loop->watches[i]);
    else
      loop->watches[kept++] = loop->watches[i];
  }
  loop->count = kept;
}
