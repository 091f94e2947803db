// SPDX-License-Identifier: Apache-2.0
// Finds the path and the amount that a session copies, from the lines between client and agent.
#ifndef RD_SERVE_OBSERVER_H
#define RD_SERVE_OBSERVER_H

#include "serve/options.h"

#include <stddef.h>

struct rd_observer_handler {
  // The client's first copy: the rights that it needs, and the path, made safe for a terminal.
  void (*opened)(void *context, enum rd_rights rights, const char *path);
  void (*moved)(void *context, uint64_t received, uint64_t sent); // bytes since the last call
  // Once: the agent refused what the client asked for. The reason is safe for a terminal.
  void (*refused)(void *context, const char *reason);
  void *context;
};

struct rd_observer;
struct rd_observer *rd_observer_create(const struct rd_observer_handler *handler);
void rd_observer_destroy(struct rd_observer *observer); // NULL-safe

// Take the bytes of the client's requests and of the agent's events, in order. Other lines are ignored.
void rd_observer_request(struct rd_observer *observer, const char *bytes, size_t count);
void rd_observer_event(struct rd_observer *observer, const char *bytes, size_t count);

#endif
