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

// Starts `run(context)` in a thread. After rd_worker_stop() its blocking system calls fail with EINTR; it must then
// check whether it has to end.
bool rd_worker_start(struct rd_worker *worker, void *(*run)(void *), void *context, struct rd_error *error);

// Interrupts the thread until it has ended, for at most 2 s. Returns false if it hangs in a system call; everything
// that it uses must then stay allocated.
bool rd_worker_stop(struct rd_worker *worker);

#endif
