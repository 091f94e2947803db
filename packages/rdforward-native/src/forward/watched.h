// SPDX-License-Identifier: Apache-2.0
// The first member of every object that a forward's epoll descriptor watches: identifies the object.
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

// Returns false, with errno, if a limit of the system is reached.
static inline bool rd_watch(int epoll_fd, int fd, uint32_t events, enum rd_watched *watched) {
  struct epoll_event event = {.events = events, .data.ptr = watched};
  return epoll_ctl(epoll_fd, EPOLL_CTL_ADD, fd, &event) == 0;
}

#endif
