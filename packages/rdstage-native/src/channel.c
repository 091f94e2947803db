// SPDX-License-Identifier: Apache-2.0
#include "channel.h"

#include "cleanup.h"
#include "guardian_messages.h"
#include "io.h"
#include "memory.h"

#include <fcntl.h>
#include <poll.h>
#include <stdlib.h>

struct channel {
  struct agent *agent;
  int read_fd, write_fd;
  uint32_t hold; // 0: the guardian does not hold it
  struct watch *watch;
  channel_function *reader_gone;
  void *context;
};

static void on_error(void *context, short ready);

struct channel *channel_create(struct agent *agent, bool guarded, struct rd_error *error) {
  int ends[2];
  if (pipe2(ends, O_CLOEXEC)) {
    rd_error_set_errno(error, RD_CODE_INTERNAL, "cannot make a pipe");
    return NULL;
  }
  rd_pipe_grow(ends[1]);
  struct channel *channel = memory_new(1, sizeof *channel);
  *channel = (struct channel){.agent = agent, .read_fd = ends[0], .write_fd = ends[1]};
  if (!guarded) return channel;
  channel->hold = ++agent->last_hold;
  if (guardian_hold(agent->guard_fd, channel->hold, channel->write_fd, error)) return channel;
  channel_destroy(channel);
  return NULL;
}

void channel_destroy(struct channel *channel) {
  if (!channel) return;
  rd_cleanup_fd(&channel->read_fd);
  if (!channel_is_read(channel)) channel_release(channel);
  watch_end(&channel->watch);
  rd_cleanup_fd(&channel->write_fd);
  free(channel);
}

void channel_hand_over(struct channel *channel, struct held_write_ends *held) {
  watch_end(&channel->watch);
  rd_cleanup_fd(&channel->read_fd);
  if (channel->hold && channel->write_fd >= 0) held_write_ends_add(held, channel->hold, rd_take_fd(&channel->write_fd));
}

int channel_read_end(const struct channel *channel) {
  return channel->read_fd;
}

int channel_write_end(const struct channel *channel) {
  return channel->write_fd;
}

void channel_reader_started(struct channel *channel, channel_function *reader_gone, void *context) {
  channel_close_read_end(channel);
  channel->reader_gone = reader_gone;
  channel->context = context;
  if (channel->write_fd >= 0)
    channel->watch = loop_watch(channel->agent->loop, channel->write_fd, 0, on_error, channel);
}

void channel_close_read_end(struct channel *channel) {
  rd_cleanup_fd(&channel->read_fd);
}

bool channel_is_read(const struct channel *channel) {
  struct pollfd polled = {.fd = channel->write_fd};
  return channel->write_fd >= 0 && poll(&polled, 1, 0) == 0;
}

void channel_release(struct channel *channel) {
  struct rd_error ignored; // a guardian that is gone holds nothing, and the loop notices
  watch_end(&channel->watch);
  rd_cleanup_fd(&channel->write_fd);
  if (channel->hold) guardian_release(channel->agent->guard_fd, channel->hold, &ignored);
  channel->hold = 0;
}

static void on_error(void *context, short ready) {
  (void)ready;
  struct channel *channel = context;
  channel_release(channel);
  channel->reader_gone(channel->context);
}
