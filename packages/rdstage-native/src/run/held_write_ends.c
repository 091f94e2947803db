// SPDX-License-Identifier: Apache-2.0
#include "run/held_write_ends.h"

#include "base/memory.h"
#include "process/process_list.h"

#include <poll.h>
#include <stdlib.h>
#include <unistd.h>

static void forget(struct rd_held_write_ends *held, size_t index);
static bool run_goes_on(void);
static void drop_unread(struct rd_held_write_ends *held);
static _Noreturn void stay(struct rd_held_write_ends *held);

void rd_held_write_ends_add(struct rd_held_write_ends *held, uint32_t number, int fd) {
  if (held->count == held->capacity) {
    held->capacity = held->capacity ? 2 * held->capacity : 16;
    held->items = rd_memory_resize(held->items, held->capacity, sizeof *held->items);
  }
  held->items[held->count++] = (struct rd_held_write_end){number, fd};
}

void rd_held_write_ends_drop(struct rd_held_write_ends *held, uint32_t number) {
  for (size_t i = 0; i < held->count;) {
    if (held->items[i].number == number)
      forget(held, i);
    else
      i++;
  }
}

void rd_held_write_ends_clear(struct rd_held_write_ends *held) {
  while (held->count) forget(held, 0);
  free(held->items);
  *held = (struct rd_held_write_ends){0};
}

void rd_held_write_ends_leave_behind(struct rd_held_write_ends *held) {
  drop_unread(held);
  if (held->count && run_goes_on() && fork() == 0) stay(held);
  rd_held_write_ends_clear(held);
}

static void forget(struct rd_held_write_ends *held, size_t index) {
  close(held->items[index].fd);
  held->items[index] = held->items[--held->count];
}

// Returns false if no process of the run is alive. Another reader, such as a daemon that was handed the pipe, would
// keep this process waiting for ever.
static bool run_goes_on(void) {
  struct rd_process_list list;
  struct rd_error ignored;
  if (!rd_process_list_below(getpid(), &list, &ignored)) return true;
  bool goes_on = list.count > 0;
  rd_process_list_clear(&list);
  return goes_on;
}

static void drop_unread(struct rd_held_write_ends *held) {
  for (size_t i = 0; i < held->count;) {
    struct pollfd polled = {.fd = held->items[i].fd};
    if (poll(&polled, 1, 0) == 1)
      forget(held, i);
    else
      i++;
  }
}

static _Noreturn void stay(struct rd_held_write_ends *held) {
  setsid();
  for (int fd = STDIN_FILENO; fd <= STDERR_FILENO; fd++) close(fd);
  while (held->count) {
    struct pollfd polled = {.fd = held->items[0].fd};
    poll(&polled, 1, -1);
    drop_unread(held);
  }
  _exit(EXIT_SUCCESS);
}
