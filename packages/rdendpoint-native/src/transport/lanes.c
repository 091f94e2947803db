// SPDX-License-Identifier: Apache-2.0
#include "transport/lanes.h"

#include "base/cleanup.h"
#include "base/io.h"
#include "base/memory.h"

#include <stdlib.h>
#include <sys/epoll.h>

#define LAST_MESSAGES_MS 500

static enum rd_outcome receive_from(struct rd_lanes *lanes, unsigned lane, rd_lane_receive *receive, void *transport,
                                    const char *peer, struct rd_error *error);
static bool watch(const struct rd_lanes *lanes, int fd);
static void lane_ended(struct rd_lanes *lanes, unsigned lane, const struct rd_error *why);
static enum rd_outcome after_last_lane(const struct rd_lanes *lanes, struct rd_error *error);

void rd_lanes_init(struct rd_lanes *lanes) {
  *lanes = (struct rd_lanes){.count = 1, .most = 1, .epoll_fd = -1};
}

void rd_lanes_close(struct rd_lanes *lanes) {
  rd_cleanup_fd(&lanes->epoll_fd);
  free(lanes->reorder);
  lanes->reorder = NULL;
}

void rd_lanes_expect(struct rd_lanes *lanes, unsigned most, unsigned first) {
  lanes->most = most < RD_LANES_MAX ? most : RD_LANES_MAX;
  lanes->reorder = rd_memory_new(1, sizeof *lanes->reorder);
  rd_reorder_init(lanes->reorder, first);
  lanes->unnumbered = lanes->accepted;
}

bool rd_lanes_may_join(const struct rd_lanes *lanes, bool is_alike, const char *peer, struct rd_error *error) {
  if (is_alike && lanes->reorder != NULL && lanes->count < lanes->most) return true;
  rd_error_set(error, RD_CODE_DATA_DAMAGED, "%s opened a connection that was not agreed on", peer);
  return false;
}

bool rd_lanes_add(struct rd_lanes *lanes, int first_fd, int fd, struct rd_error *error) {
  lanes->fds[0] = first_fd;
  lanes->fds[lanes->count] = fd;
  if (lanes->epoll_fd < 0) {
    lanes->epoll_fd = epoll_create1(EPOLL_CLOEXEC);
    if (lanes->epoll_fd >= 0 && !watch(lanes, first_fd)) rd_cleanup_fd(&lanes->epoll_fd);
  }
  if (lanes->epoll_fd >= 0 && watch(lanes, fd)) {
    lanes->count++;
    return true;
  }
  rd_error_set_errno(error, RD_CODE_INTERNAL, "cannot wait for another connection");
  return false;
}

unsigned rd_lanes_next_number(const struct rd_lanes *lanes) {
  return lanes->reorder == NULL ? 0 : (unsigned)((lanes->accepted - lanes->unnumbered) % RD_MESSAGE_NUMBERS);
}

enum rd_outcome rd_lanes_receive(struct rd_lanes *lanes, rd_lane_receive *receive, void *transport, const char *peer,
                                 struct rd_message *message, struct rd_error *error) {
  unsigned number;
  if (lanes->reorder == NULL) return receive(transport, 0, message, &number, error);
  for (unsigned lane = 0; !rd_reorder_take(lanes->reorder, message);) {
    if (lane == lanes->count) return after_last_lane(lanes, error);
    enum rd_outcome received = receive_from(lanes, lane, receive, transport, peer, error);
    if (received == RD_OUTCOME_FAILED) return RD_OUTCOME_FAILED;
    if (received == RD_OUTCOME_AGAIN) lane++;
  }
  return RD_OUTCOME_DONE;
}

// AGAIN: this lane has no message now.
static enum rd_outcome receive_from(struct rd_lanes *lanes, unsigned lane, rd_lane_receive *receive, void *transport,
                                    const char *peer, struct rd_error *error) {
  struct rd_message message;
  unsigned number;
  if (lanes->has_ended[lane]) return RD_OUTCOME_AGAIN;
  enum rd_outcome received = receive(transport, lane, &message, &number, error);
  if (received == RD_OUTCOME_FAILED && rd_code_is_loss(error->code)) {
    lane_ended(lanes, lane, error);
    return RD_OUTCOME_AGAIN;
  }
  if (received != RD_OUTCOME_DONE || rd_reorder_put(lanes->reorder, number, &message)) return received;
  rd_error_set(error, RD_CODE_DATA_DAMAGED, "%s sent two messages of number %u", peer, number);
  return RD_OUTCOME_FAILED;
}

static bool watch(const struct rd_lanes *lanes, int fd) {
  struct epoll_event readable = {.events = EPOLLIN};
  return epoll_ctl(lanes->epoll_fd, EPOLL_CTL_ADD, fd, &readable) == 0;
}

static void lane_ended(struct rd_lanes *lanes, unsigned lane, const struct rd_error *why) {
  lanes->has_ended[lane] = true;
  if (lanes->epoll_fd >= 0) (void)epoll_ctl(lanes->epoll_fd, EPOLL_CTL_DEL, lanes->fds[lane], NULL);
  if (lanes->ended_count++ > 0) return;
  lanes->ended = *why;
  lanes->ended_at_ms = rd_now_ms();
}

// A peer that ends closes all its lanes: its last messages may arrive after the end of another lane.
static enum rd_outcome after_last_lane(const struct rd_lanes *lanes, struct rd_error *error) {
  bool awaits_others = lanes->ended_count < lanes->count && rd_now_ms() - lanes->ended_at_ms < LAST_MESSAGES_MS;
  if (lanes->ended_count == 0 || awaits_others) return RD_OUTCOME_AGAIN;
  *error = lanes->ended;
  return RD_OUTCOME_FAILED;
}
