// SPDX-License-Identifier: Apache-2.0
#include "run/stderr_relay.h"

#include "base/cleanup.h"
#include "base/io.h"
#include "base/memory.h"
#include "protocol/event.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <stdlib.h>

#define CHUNK_BYTES (32u << 10)
// Pause between two messages of a stage, so that a stage that writes line by line does not cause one message per line:
// each message costs rdpipe as much as a hundred lines. The pause is too short to be noticed.
#define PAUSE_MS 4

struct rd_stderr_relay {
  struct rd_agent *agent;
  unsigned stage;
  int fd;
  struct rd_watch *watch; // NULL: ended
  struct rd_timer pause;  // running: nothing is read
  uint64_t sent_bytes, acknowledged_bytes;
  void (*ended)(void *context);
  void *context;
};

enum pass { PASSED_MUCH, PASSED_LITTLE, NOTHING_NOW, ENDED };

static void on_readable(void *context, short ready);
static void on_pause_over(void *context);
static void read_on(struct rd_stderr_relay *relay);
static enum pass pass_on(struct rd_stderr_relay *relay);
static size_t allowance(const struct rd_stderr_relay *relay);

struct rd_stderr_relay *rd_stderr_relay_create(struct rd_agent *agent, unsigned stage, int *write_fd,
                                               void (*ended)(void *context), void *context, struct rd_error *error) {
  int ends[2];
  if (pipe2(ends, O_CLOEXEC)) {
    rd_error_set_errno(error, RD_CODE_INTERNAL, "cannot create a pipe");
    return NULL;
  }
  // The stage can continue to write during a pause; if the kernel refuses the size, the stage waits.
  (void)fcntl(ends[0], F_SETPIPE_SZ, (int)RD_STDERR_UNACKNOWLEDGED_MAX_BYTES);
  struct rd_stderr_relay *relay = rd_memory_new(1, sizeof *relay);
  *relay = (struct rd_stderr_relay){.agent = agent, .stage = stage, .fd = ends[0], .ended = ended, .context = context};
  *write_fd = ends[1];
  rd_set_nonblocking(relay->fd);
  relay->watch = rd_loop_watch(agent->loop, relay->fd, POLLIN, on_readable, relay);
  return relay;
}

void rd_stderr_relay_destroy(struct rd_stderr_relay *relay) {
  if (relay == NULL) return;
  rd_loop_timer_stop(relay->agent->loop, &relay->pause);
  rd_watch_end(&relay->watch);
  rd_cleanup_fd(&relay->fd);
  free(relay);
}

void rd_stderr_relay_acknowledge(struct rd_stderr_relay *relay, uint64_t bytes) {
  if (bytes > relay->sent_bytes) bytes = relay->sent_bytes; // rdpipe cannot have taken more than was sent
  if (bytes > relay->acknowledged_bytes) relay->acknowledged_bytes = bytes;
  read_on(relay);
}

bool rd_stderr_relay_has_ended(const struct rd_stderr_relay *relay) {
  return relay->watch == NULL;
}

bool rd_stderr_relay_is_idle(const struct rd_stderr_relay *relay) {
  struct pollfd polled = {.fd = relay->fd, .events = POLLIN};
  return relay->watch == NULL || poll(&polled, 1, 0) == 0;
}

void rd_stderr_relay_take(struct rd_stderr_relay *relay) {
  while (relay->watch != NULL && pass_on(relay) <= PASSED_LITTLE) continue;
  rd_loop_timer_stop(relay->agent->loop, &relay->pause);
  read_on(relay);
}

void rd_stderr_relay_close(struct rd_stderr_relay *relay) {
  rd_stderr_relay_take(relay);
  rd_watch_end(&relay->watch);
  rd_cleanup_fd(&relay->fd);
}

static void on_readable(void *context, short ready) {
  (void)ready;
  struct rd_stderr_relay *relay = context;
  switch (pass_on(relay)) {
  case PASSED_MUCH:
  case NOTHING_NOW:
    break;
  case PASSED_LITTLE:
    rd_watch_change(relay->watch, RD_WATCH_NOTHING);
    rd_loop_timer(relay->agent->loop, &relay->pause, PAUSE_MS, on_pause_over, relay);
    break;
  case ENDED:
    rd_watch_end(&relay->watch);
    relay->ended(relay->context);
    break;
  }
}

static void on_pause_over(void *context) {
  read_on(context);
}

// Resumes reading, unless bytes have to be acknowledged first or the relay pauses.
static void read_on(struct rd_stderr_relay *relay) {
  if (relay->watch != NULL && relay->pause.function == NULL && allowance(relay)) rd_watch_change(relay->watch, POLLIN);
}

static enum pass pass_on(struct rd_stderr_relay *relay) {
  unsigned char bytes[CHUNK_BYTES];
  size_t most = allowance(relay);
  if (!most) {
    rd_watch_change(relay->watch, RD_WATCH_NOTHING); // until something is acknowledged
    return NOTHING_NOW;
  }
  ssize_t got = rd_read_some(relay->fd, bytes, most < sizeof bytes ? most : sizeof bytes);
  if (got < 0) return errno == EAGAIN ? NOTHING_NOW : ENDED;
  if (got == 0) return ENDED;
  relay->sent_bytes += (size_t)got;
  RD_AUTO_FREE char *line = rd_event_stderr_line(relay->stage, bytes, (size_t)got);
  rd_control_line_emit_line(relay->agent->control, line);
  return (size_t)got == sizeof bytes ? PASSED_MUCH : PASSED_LITTLE;
}

static size_t allowance(const struct rd_stderr_relay *relay) {
  return RD_STDERR_UNACKNOWLEDGED_MAX_BYTES - (size_t)(relay->sent_bytes - relay->acknowledged_bytes);
}
