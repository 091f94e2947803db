// SPDX-License-Identifier: Apache-2.0
// Write ends of consumers' inputs that are held open, so that none sees an end of file.
#ifndef RD_STAGE_HELD_WRITE_ENDS_H
#define RD_STAGE_HELD_WRITE_ENDS_H

#include <stddef.h>
#include <stdint.h>

struct rd_held_write_end {
  uint32_t number;
  int fd;
};

struct rd_held_write_ends {
  struct rd_held_write_end *items;
  size_t count, capacity;
};

void rd_held_write_ends_add(struct rd_held_write_ends *held, uint32_t number, int fd); // takes `fd`
void rd_held_write_ends_drop(struct rd_held_write_ends *held, uint32_t number);
// Closes everything. A struct of zeros is valid and empty.
void rd_held_write_ends_clear(struct rd_held_write_ends *held);
// Where a process of the run that could not be ended still reads, a fork stays behind and holds the ends until there is
// no reader: this process must exit, or its session would not end. Closes everything here.
void rd_held_write_ends_leave_behind(struct rd_held_write_ends *held);

#endif
