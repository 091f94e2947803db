// SPDX-License-Identifier: Apache-2.0
// Which files may be used from here on: Landlock, for this thread and those that it starts, for good. Where the kernel
// has none, or has it turned off, everything stays as it is.
#ifndef RD_SANDBOX_LANDLOCK_H
#define RD_SANDBOX_LANDLOCK_H

#include <stdbool.h>

struct rd_landlock {
  const char *path; // of source or sink: where it is a fifo, it is opened later; NULL: none
  int directory_fd; // of the sink: below it files may be made, written, renamed and removed; -1: none
  bool rdma;        // its devices
};

// No program is started, no directory, device, socket or link made, no abstract socket of somebody else's used; with
// `is_alone` no other process is sent a signal. False: this kernel has no Landlock.
bool rd_landlock_restrict_process(bool is_alone);

// Nothing else is read but what libraries need, nothing else written. False: this kernel has no Landlock.
bool rd_landlock_restrict_files(const struct rd_landlock *landlock);

#endif
