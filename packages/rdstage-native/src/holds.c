// SPDX-License-Identifier: Apache-2.0
#include "holds.h"

#include "memory.h"

#include <poll.h>
#include <stdlib.h>
#include <unistd.h>

static void forget(struct holds *holds, size_t index);
static void drop_unread(struct holds *holds);
static _Noreturn void stay(struct holds *holds);

void holds_add(struct holds *holds, uint32_t number, int fd) {
  if (holds->count == holds->capacity) {
    holds->capacity = holds->capacity ? 2 * holds->capacity : 16;
    holds->items = memory_resize(holds->items, holds->capacity, sizeof *holds->items);
  }
  holds->items[holds->count++] = (struct hold){number, fd};
}

void holds_drop(struct holds *holds, uint32_t number) {
  for (size_t i = 0; i < holds->count;) {
    if (holds->items[i].number == number)
      forget(holds, i);
    else
      i++;
  }
}

void holds_clear(struct holds *holds) {
  while (holds->count) forget(holds, 0);
  free(holds->items);
  *holds = (struct holds){0};
}

void holds_leave_behind(struct holds *holds) {
  drop_unread(holds);
  if (holds->count && fork() == 0) stay(holds);
  holds_clear(holds);
}

static void forget(struct holds *holds, size_t index) {
  close(holds->items[index].fd);
  holds->items[index] = holds->items[--holds->count];
}

static void drop_unread(struct holds *holds) {
  for (size_t i = 0; i < holds->count;) {
    struct pollfd polled = {.fd = holds->items[i].fd};
    if (poll(&polled, 1, 0) == 1)
      forget(holds, i);
    else
      i++;
  }
}

static _Noreturn void stay(struct holds *holds) {
  setsid();
  for (int fd = STDIN_FILENO; fd <= STDERR_FILENO; fd++) close(fd);
  while (holds->count) {
    struct pollfd polled = {.fd = holds->items[0].fd};
    poll(&polled, 1, -1);
    drop_unread(holds);
  }
  _exit(EXIT_SUCCESS);
}
