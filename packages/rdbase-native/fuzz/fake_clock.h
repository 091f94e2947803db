// SPDX-License-Identifier: Apache-2.0
// A simulated clock for one thread, which never waits: this file defines clock_gettime(), poll() and ppoll() in place
// of the C library. Each wait of the code under test is a turn of the simulated world; a turn that changes nothing
// advances the clock.
#ifndef RD_FAKE_CLOCK_H
#define RD_FAKE_CLOCK_H

#include <poll.h>
#include <stdbool.h>
#include <stdint.h>

struct fake_world {
  // Does the next thing in the rest of the world. Returns false if nothing is left to do, so that only time passes.
  bool (*turn)(void *context);
  // Returns the events of a descriptor that is not one of the system's; NULL: there are no such descriptors.
  short (*ready)(void *context, const struct pollfd *polled);
  void *context;
  unsigned turns_most; // a run that takes more turns never ends: a finding
};

// The lowest number used for the world's own descriptors.
#define FAKE_FD 0x7fffff00

// From now on, until fake_clock_stop(), time is simulated.
void fake_clock_start(const struct fake_world *world);
void fake_clock_stop(void);
// Advances the simulated clock.
void fake_clock_pass(int64_t ms);

#endif
