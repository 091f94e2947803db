// SPDX-License-Identifier: Apache-2.0
#include "run/channel.h"

#include "base/cleanup.h"
#include "base/io.h"
#include "base/memory.h"
#include "run/guardian_messages.h"

#include <fcntl.h>
#include <poll.h>
#include <stdlib.h>

struct rd_channel {
  struct rd_agent *agent;
  int read_fd, write_fd;
  uint32_t hold; // 0: not held by the guardian
  struct rd_watch *watch;
  rd_channel_function *reader_gone;
  void *context;
};

static void on_error(void *context, short ready);

struct rd_channel *rd_channel_create(struct rd_agent *agent, bool guarded, struct rd_error *error) {
  int ends[2];
  if (pipe2(ends, O_CLOEXEC)) {
    rd_error_set_errno(error, RD_CODE_INTERNAL, "cannot create a pipe");
    return NULL;
  }
  rd_pipe_grow(ends[1]);
  struct rd_channel *channel = rd_memory_new(1, sizeof *channel);
  *channel = (struct rd_channel){.agent = agent, .read_fd = ends[0], .write_fd = ends[1]};
  if (!guarded) return channel;
  channel->hold = ++agent->last_hold;
  if (rd_guardian_hold(agent->guard_fd, channel->hold, channel->write_fd, error)) return channel;
  rd_channel_destroy(channel);
  return NULL;
}

void rd_channel_destroy(struct rd_channel *channel) {
  if (channel == NULL) return;
  rd_cleanup_fd(&channel->read_fd);
  if (!rd_channel_is_read(channel)) rd_channel_release(channel);
  rd_watch_end(&channel->watch);
  rd_cleanup_fd(&channel->write_fd);
  free(channel);
}

void rd_channel_hand_over(struct rd_channel *channel, struct rd_held_write_ends *held) {
  rd_watch_end(&channel->watch);
  rd_cleanup_fd(&channel->read_fd);
  if (channel->hold && channel->write_fd >= 0)
    rd_held_write_ends_add(held, channel->hold, rd_take_fd(&channel->write_fd));
}

int rd_channel_read_end(const struct rd_channel *channel) {
  return channel->read_fd;
}

int rd_channel_write_end(const struct rd_channel *channel) {
  return channel->write_fd;
}

void rd_channel_reader_started(struct rd_channel *channel, rd_channel_function *reader_gone, void *context) {
  rd_channel_close_read_end(channel);
  channel->reader_gone = reader_gone;
  channel->context = context;
  if (channel->write_fd >= 0)
    channel->watch = rd_loop_watch(channel->agent->loop, channel->write_fd, 0, on_error, channel);
}

void rd_channel_close_read_end(struct rd_channel *channel) {
  rd_cleanup_fd(&channel->read_fd);
}

bool rd_channel_is_read(const struct rd_channel *channel) {
  struct pollfd polled = {.fd = channel->write_fd};
  return channel->write_fd >= 0 && poll(&polled, 1, 0) == 0;
}

void rd_channel_release(struct rd_channel *channel) {
  struct rd_error ignored; // a guardian that is gone holds nothing, and the loop notices that it is gone
  rd_watch_end(&channel->watch);
  rd_cleanup_fd(&channel->write_fd);
  if (channel->hold) rd_guardian_release(channel->agent->guard_fd, channel->hold, &ignored);
  channel->hold = 0;
}

static void on_error(void *context, short ready) {
  (void)ready;
  struct rd_channel *channel = context;
  rd_channel_release(channel);
  channel->reader_gone(channel->context);
}
