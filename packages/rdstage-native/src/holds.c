// SPDX-License-Identifier: Apache-2.0
#include "holds.h"

#include "memory.h"
#include "process_list.h"

#include <poll.h>
#include <stdlib.h>
#include <unistd.h>

static void forget(struct holds *holds, size_t index);
static bool run_goes_on(void);
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
  if (holds->count && run_goes_on() && fork() == 0) stay(holds);
  holds_clear(holds);
}

static void forget(struct holds *holds, size_t index) {
  close(holds->items[index].fd);
  holds->items[index] = holds->items[--holds->count];
}

// A reader that is none of ours, as a daemon is to which a command passed its input, would otherwise wait for ever.
static bool run_goes_on(void) {
  struct process_list list;
  struct rd_error ignored;
  if (!process_list_below(getpid(), &list, &ignored)) return true;
  bool goes_on = list.count > 0;
  process_list_clear(&list);
  return goes_on;
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
