// SPDX-License-Identifier: Apache-2.0
// Writing ends of consumers' inputs that are held open, so that nobody sees an end of file.
#ifndef RD_STAGE_HOLDS_H
#define RD_STAGE_HOLDS_H

#include <stddef.h>
#include <stdint.h>

struct holds {
  struct hold {
    uint32_t number;
    int fd;
  } * items;
  size_t count, capacity;
};

void holds_add(struct holds *holds, uint32_t number, int fd); // takes `fd`
void holds_drop(struct holds *holds, uint32_t number);
// Closes everything; zeros are a valid beginning.
void holds_clear(struct holds *holds);
// Where a process of the run that could not be ended still reads, another process stays behind and holds on until
// nobody does: this one must end, or its session would not. Closes everything here.
void holds_leave_behind(struct holds *holds);

#endif
