// SPDX-License-Identifier: Apache-2.0
#include "transport/verbs/wait.h"

#include "base/cleanup.h"
#include "base/io.h"

#include <sched.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>

#define DESCRIPTORS 3

static int processors(void);
static bool woken(struct rd_verbs_wait *wait);

void rd_verbs_wait_init(struct rd_verbs_wait *wait, bool poll) {
  *wait = (struct rd_verbs_wait){.epoll_fd = -1, .id_fd = -1, .wake_fd = -1, .poll = poll};
  rd_verbs_spin_init(&wait->spin, processors());
}

bool rd_verbs_wait_open(struct rd_verbs_wait *wait, struct rd_verbs_queue *queue, const struct rd_verbs_id *id,
                        struct rd_error *error) {
  wait->queue = queue;
  wait->id_fd = rd_verbs_id_fd(id);
  wait->epoll_fd = epoll_create1(EPOLL_CLOEXEC);
  wait->wake_fd = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
  const int fds[DESCRIPTORS] = {wait->id_fd, rd_verbs_queue_fd(queue), wait->wake_fd};
  bool good = wait->epoll_fd >= 0;
  for (int i = 0; good && i < DESCRIPTORS; i++) {
    struct epoll_event readable = {.events = EPOLLIN, .data.fd = fds[i]};
    good = epoll_ctl(wait->epoll_fd, EPOLL_CTL_ADD, fds[i], &readable) == 0;
  }
  if (!good) rd_error_set_errno(error, RD_CODE_INTERNAL, "cannot wait for an RDMA connection");
  return good;
}

void rd_verbs_wait_close(struct rd_verbs_wait *wait) {
  rd_cleanup_fd(&wait->epoll_fd);
  rd_cleanup_fd(&wait->wake_fd);
}

void rd_verbs_wait_wake(const struct rd_verbs_wait *wait) {
  eventfd_write(wait->wake_fd, 1);
}

bool rd_verbs_wait_check(struct rd_verbs_wait *wait) {
  struct epoll_event ready[DESCRIPTORS];
  bool id_has_events = false;
  if (woken(wait)) return false;
  int count = epoll_wait(wait->epoll_fd, ready, DESCRIPTORS, 0);
  for (int i = 0; i < count; i++) {
    eventfd_t ignored;
    if (ready[i].data.fd == wait->wake_fd) (void)eventfd_read(wait->wake_fd, &ignored);
    if (ready[i].data.fd == rd_verbs_queue_fd(wait->queue)) (void)woken(wait);
    if (ready[i].data.fd == wait->id_fd) id_has_events = true;
  }
  return id_has_events;
}

bool rd_verbs_wait_arm(struct rd_verbs_wait *wait, bool for_sends) {
  if (wait->poll) return true;
  bool armed = for_sends && rd_verbs_queue_arm(&wait->queue->sent);
  if (rd_verbs_queue_arm(&wait->queue->arrived)) {
    wait->armed_at_ns = rd_now_ns();
    armed = true;
  }
  return !armed;
}

static int processors(void) {
  cpu_set_t allowed;
  return sched_getaffinity(0, sizeof allowed, &allowed) == 0 ? CPU_COUNT(&allowed) : 1;
}

static bool woken(struct rd_verbs_wait *wait) {
  if (!rd_verbs_queue_woken(wait->queue)) return false;
  rd_verbs_spin_waited(&wait->spin, rd_now_ns() - wait->armed_at_ns);
  return true;
}
