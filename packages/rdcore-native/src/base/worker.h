// SPDX-License-Identifier: Apache-2.0
// A thread whose blocking system calls can be interrupted.
#ifndef RD_BASE_WORKER_H
#define RD_BASE_WORKER_H

#include "base/error.h"

#include <pthread.h>

struct rd_worker {
  pthread_t thread;
  bool running;
};

// Starts `run(context)`. Its system calls fail with EINTR once rd_worker_stop() was called; it must then look whether
// it is to end.
bool rd_worker_start(struct rd_worker *worker, void *(*run)(void *), void *context, struct rd_error *error);

// Interrupts the thread until it has ended, for 2 s at most. False: it hangs in the system, and what it uses must stay.
bool rd_worker_stop(struct rd_worker *worker);

#endif
