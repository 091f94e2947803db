// SPDX-License-Identifier: Apache-2.0
// One thread's waiting: descriptors and timers, and what is called when they are due. Callbacks may add and end any
// watch or timer, their own included.
#ifndef RD_STAGE_LOOP_H
#define RD_STAGE_LOOP_H

#include "error.h"

#include <stdint.h>

struct loop;
struct watch;

// `ready`: the events that poll() reported.
typedef void watch_function(void *context, short ready);
typedef void timer_function(void *context);

// Not polled at all, not even for errors.
#define WATCH_NOTHING ((short)-1)

// Owned by whoever declares it, all zeros at first; stop it before its memory goes.
struct timer {
  int64_t due_ms;
  timer_function *function; // NULL: not running
  void *context;
  struct timer *next;
};

struct loop *loop_create(void);
void loop_destroy(struct loop *loop); // watches that were not ended go with it; NULL-safe

// Polls `fd` for `events` (0: errors and hang-ups only) until watch_end(). The caller keeps owning `fd`.
struct watch *loop_watch(struct loop *loop, int fd, short events, watch_function *function, void *context);
void watch_change(struct watch *watch, short events);
// Sets *watch to NULL; NULL-safe. End a watch before its descriptor is closed.
void watch_end(struct watch **watch);

// Calls `function` once, `after_ms` from now. A running timer is started anew.
void loop_timer(struct loop *loop, struct timer *timer, int64_t after_ms, timer_function *function, void *context);
void loop_timer_stop(struct loop *loop, struct timer *timer);

// Waits for the first thing that is due and calls what is due then. False only when poll() fails.
bool loop_turn(struct loop *loop, struct rd_error *error);

#endif
