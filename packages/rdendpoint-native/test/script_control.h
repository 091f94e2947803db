// SPDX-License-Identifier: Apache-2.0
// A loop in its own thread, controlled by a script: commands are given at once, a failed dial is answered with an
// abort, and the end with a release.
#ifndef RD_SCRIPT_CONTROL_H
#define RD_SCRIPT_CONTROL_H

#include "base/io.h"
#include "hop/control.h"
#include "test.h"

#include <pthread.h>
#include <string.h>
#include <sys/eventfd.h>
#include <unistd.h>

#define SCRIPT_ORDERS_MAX 12u

struct script {
  struct rd_control control;
  struct rd_command *commands;
  unsigned command_count, next;
  atomic_uint visible; // number of commands that the loop can see
  bool has_thread;     // then a command added with script_add() is visible to the loop only after script_wake()
  int wake_fd;         // readable when there is a command that the loop did not wait for
  bool release;
  atomic_bool aborts; // other threads may set it
  enum rd_code (*loop)(struct rd_control *);
  pthread_t thread;
  // As reported by the loop.
  atomic_bool finished;
  atomic_uint port; // on which it listens; 0: not yet
  atomic_bool connected;
  unsigned broken, resumed, closed;
  atomic_bool parted;
  bool ended;
  struct rd_error end;
  uint64_t bytes;
  uint32_t status;
  enum rd_code code;
};

static inline struct pollfd script_poll(const struct rd_control *control) {
  return (struct pollfd){.fd = ((const struct script *)control)->wake_fd, .events = POLLIN};
}

static inline bool script_next(struct rd_control *control, struct rd_command *command) {
  struct script *script = (struct script *)control;
  eventfd_t ignored;
  (void)eventfd_read(script->wake_fd, &ignored); // first, so that anything set later wakes the loop again
  if (script->release || script->aborts) {
    *command =
        (struct rd_command){.type = script->release ? RD_COMMAND_RELEASE : RD_COMMAND_ABORT, .code = RD_CODE_ABORTED};
    script->release = false;
    script->aborts = false;
    return true;
  }
  if (script->next == script->visible) return false;
  *command = script->commands[script->next++];
  return true;
}

static inline void script_tell(struct rd_control *control, const struct rd_event *event) {
  struct script *script = (struct script *)control;
  if (event->type == RD_EVENT_CONNECTED) script->connected = true;
  if (event->type == RD_EVENT_LISTENING) script->port = event->port;
  if (event->type == RD_EVENT_BROKEN) script->broken++;
  if (event->type == RD_EVENT_RESUMED) script->resumed++;
  if (event->type == RD_EVENT_PARTED) script->parted = true;
  if (event->type == RD_EVENT_CLOSED) script->closed++;
  if (event->type == RD_EVENT_DIAL_FAILED) script->aborts = true;
  if (event->type == RD_EVENT_END) script->ended = true, script->status = event->status;
  if (event->type == RD_EVENT_FINISHED) {
    script->end = *event->error;
    script->bytes = event->bytes;
    script->release = true;
    script->finished = true;
  }
  if (script->aborts || script->release) CHECK(eventfd_write(script->wake_fd, 1) == 0);
}

static const struct rd_control_ops script_ops = {script_poll, script_next, script_tell};

static inline struct rd_settings script_settings(enum rd_encrypt encrypt, size_t buffer_bytes) {
  struct rd_settings settings = {
      .run = "test",
      .hop = 1,
      .encrypt = encrypt,
      .buffer = (int64_t)buffer_bytes,
      .connect_timeout_ms = WAIT_MS,
      .stall_timeout_ms = WAIT_MS,
  };
  memset(settings.key, 7, sizeof settings.key);
  return settings;
}

static inline void script_init(struct script *script, enum rd_code (*loop)(struct rd_control *)) {
  *script = (struct script){.control = {.ops = &script_ops}, .loop = loop};
  script->commands = calloc(SCRIPT_ORDERS_MAX, sizeof *script->commands);
  script->wake_fd = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
  REQUIRE(script->commands != NULL && script->wake_fd >= 0);
}

// Adds a command to the script, which the caller fills in.
static inline struct rd_command *script_add(struct script *script, enum rd_command_type type) {
  REQUIRE(script->command_count < SCRIPT_ORDERS_MAX);
  struct rd_command *command = &script->commands[script->command_count++];
  if (!script->has_thread) script->visible = script->command_count;
  command->type = type;
  command->fd = -1;
  return command;
}

static inline void *script_run(void *context) {
  struct script *script = context;
  script->code = script->loop(&script->control);
  return NULL;
}

// Makes the commands that were added visible to the loop.
static inline void script_wake(struct script *script) {
  script->visible = script->command_count;
  CHECK(eventfd_write(script->wake_fd, 1) == 0);
}

static inline void script_abort(struct script *script) {
  script->aborts = true;
  script_wake(script);
}

static inline void script_start(struct script *script) {
  script->has_thread = true;
  REQUIRE(pthread_create(&script->thread, NULL, script_run, script) == 0);
}

static inline void script_join(struct script *script) {
  REQUIRE(pthread_join(script->thread, NULL) == 0);
  close(script->wake_fd);
  free(script->commands);
}

#endif
