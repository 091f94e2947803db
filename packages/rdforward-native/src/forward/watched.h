// SPDX-License-Identifier: Apache-2.0
// The first member of what an epoll descriptor of a forward watches: it tells what an event is about.
#ifndef RD_FORWARD_WATCHED_H
#define RD_FORWARD_WATCHED_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/epoll.h>

enum rd_watched {
  RD_WATCHED_INPUT,
  RD_WATCHED_OUTPUT,
  RD_WATCHED_SIGNALS,
  RD_WATCHED_RESOLVER,
  RD_WATCHED_LISTENER,
  RD_WATCHED_STREAM,
};

// False, with errno: the system has no room.
static inline bool rd_watch(int epoll_fd, int fd, uint32_t events, enum rd_watched *watched) {
  struct epoll_event event = {.events = events, .data.ptr = watched};
  return epoll_ctl(epoll_fd, EPOLL_CTL_ADD, fd, &event) == 0;
}

#endif
