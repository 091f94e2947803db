// SPDX-License-Identifier: Apache-2.0
// A clock for one thread that never waits: clock_gettime(), poll() and ppoll() are this file's, in place of the C
// library's. Each wait of the code under test is a turn of its simulated surroundings; a turn that changes nothing
// advances the time.
#ifndef RD_FAKE_CLOCK_H
#define RD_FAKE_CLOCK_H

#include <poll.h>
#include <stdbool.h>
#include <stdint.h>

struct fake_world {
  // Does the next thing that the rest of the world does. False: there is none left, so only time goes on.
  bool (*turn)(void *context);
  // Whether a descriptor that is none of the system's is ready; NULL: there are no such.
  short (*ready)(void *context, const struct pollfd *polled);
  void *context;
  unsigned turns_most; // a run that takes more never ends: a finding
};

// The least number that stands for a descriptor of the world's own.
#define FAKE_FD 0x7fffff00

// From now on, until fake_clock_stop(), time is the world's.
void fake_clock_start(const struct fake_world *world);
void fake_clock_stop(void);
void fake_clock_pass(int64_t ms);

#endif
