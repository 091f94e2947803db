// SPDX-License-Identifier: Apache-2.0
#include "guardian.h"

#include "cleanup.h"
#include "guard_words.h"
#include "io.h"
#include "memory.h"
#include "process_tree.h"

#include <errno.h>
#include <poll.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

#define END_WITHIN_MS 8000

struct holds {
  struct hold {
    uint32_t number;
    int fd;
  } * items;
  size_t count, capacity;
};

static bool listen_to_supervisor(int guard_fd, struct holds *holds);
static void add_hold(struct holds *holds, uint32_t number, int fd);
static void drop_hold(struct holds *holds, uint32_t number);
static void forget(struct holds *holds, size_t index);
static int status_of(pid_t supervisor);
static void drop_unread_holds(struct holds *holds);
static void stay_behind(struct holds *holds);

int guardian_watch(pid_t supervisor, int guard_fd) {
  struct holds holds = {0};
  bool finished = listen_to_supervisor(guard_fd, &holds);
  if (!finished) tree_end(getpid(), END_WITHIN_MS);
  int status = finished ? status_of(supervisor) : EXIT_FAILURE;
  drop_unread_holds(&holds);
  if (holds.count) stay_behind(&holds);
  free(holds.items);
  return status;
}

// Until the supervisor is gone. True when it had finished.
static bool listen_to_supervisor(int guard_fd, struct holds *holds) {
  struct guard_message message;
  bool finished = false;
  for (int fd; guard_receive(guard_fd, &message, &fd);) {
    if (message.word == GUARD_HOLD && fd >= 0) add_hold(holds, message.hold, rd_take_fd(&fd));
    if (message.word == GUARD_RELEASE) drop_hold(holds, message.hold);
    if (message.word == GUARD_FINISHED) finished = true;
    rd_cleanup_fd(&fd);
  }
  return finished;
}

static void add_hold(struct holds *holds, uint32_t number, int fd) {
  if (holds->count == holds->capacity) {
    holds->capacity = holds->capacity ? 2 * holds->capacity : 16;
    holds->items = memory_resize(holds->items, holds->capacity, sizeof *holds->items);
  }
  holds->items[holds->count++] = (struct hold){number, fd};
}

static void drop_hold(struct holds *holds, uint32_t number) {
  for (size_t i = 0; i < holds->count;) {
    if (holds->items[i].number == number)
      forget(holds, i);
    else
      i++;
  }
}

static void forget(struct holds *holds, size_t index) {
  close(holds->items[index].fd);
  holds->items[index] = holds->items[--holds->count];
}

static int status_of(pid_t supervisor) {
  int status;
  while (waitpid(supervisor, &status, 0) < 0)
    if (errno != EINTR) return EXIT_FAILURE;
  return WIFEXITED(status) ? WEXITSTATUS(status) : EXIT_FAILURE;
}

// A pipe that nobody reads any more needs no holding.
static void drop_unread_holds(struct holds *holds) {
  for (size_t i = 0; i < holds->count;) {
    struct pollfd polled = {.fd = holds->items[i].fd};
    if (poll(&polled, 1, 0) == 1)
      forget(holds, i);
    else
      i++;
  }
}

// The agent itself must end, or its session would not.
static void stay_behind(struct holds *holds) {
  if (fork() != 0) return;
  setsid();
  for (int fd = 0; fd <= 2; fd++) close(fd);
  while (holds->count) {
    struct pollfd polled = {.fd = holds->items[0].fd};
    poll(&polled, 1, -1);
    drop_unread_holds(holds);
  }
  _exit(EXIT_SUCCESS);
}
