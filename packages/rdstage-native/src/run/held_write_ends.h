// SPDX-License-Identifier: Apache-2.0
// Write ends of consumers' inputs, held open so that no consumer sees an end of file.
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

void rd_held_write_ends_add(struct rd_held_write_ends *held, uint32_t number, int fd); // takes ownership of `fd`
// Closes the write end with that number, if it is held.
void rd_held_write_ends_drop(struct rd_held_write_ends *held, uint32_t number);
// Closes all. A struct of zeros is valid and empty.
void rd_held_write_ends_clear(struct rd_held_write_ends *held);
// Closes all write ends in this process. If a process of the run that could not be killed still reads from one, a fork
// remains and holds the ends until they have no reader: this process must exit, or its session would not end.
void rd_held_write_ends_leave_behind(struct rd_held_write_ends *held);

#endif
