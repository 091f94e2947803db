// SPDX-License-Identifier: Apache-2.0
// The event loop: callbacks for descriptors and timers, on one thread.
// Callbacks may add and end any watch or timer, including their own.
#ifndef RD_STAGE_LOOP_H
#define RD_STAGE_LOOP_H

#include "base/error.h"

#include <stdint.h>

struct rd_loop;
struct rd_watch;

// `ready`: the events that poll() reported.
typedef void rd_watch_function(void *context, short ready);
typedef void rd_timer_function(void *context);

// Not polled at all, not even for errors.
#define RD_WATCH_NOTHING ((short)-1)

// Owned by the caller, who zeroes it at first and stops it before freeing its memory.
struct rd_timer {
  int64_t due_ms;
  rd_timer_function *function; // NULL: not running
  void *context;
  struct rd_timer *next;
};

struct rd_loop *rd_loop_create(void);
void rd_loop_destroy(struct rd_loop *loop); // frees the watches that were not ended; NULL-safe

// Polls `fd` for `events` (0: errors and hang-ups only) until rd_watch_end(). The caller keeps owning `fd`.
struct rd_watch *rd_loop_watch(struct rd_loop *loop, int fd, short events, rd_watch_function *function, void *context);
void rd_watch_change(struct rd_watch *watch, short events);
// Ends a watch; do so before its descriptor is closed. Sets *watch to NULL. NULL-safe.
void rd_watch_end(struct rd_watch **watch);

// Calls `function` once, `after_ms` from now. Restarts a running timer.
void rd_loop_timer(struct rd_loop *loop, struct rd_timer *timer, int64_t after_ms, rd_timer_function *function,
                   void *context);
void rd_loop_timer_stop(struct rd_loop *loop, struct rd_timer *timer);

// Waits for the first event or timer and calls every callback that is due. Returns false only if poll() fails.
bool rd_loop_turn(struct rd_loop *loop, struct rd_error *error);

#endif
