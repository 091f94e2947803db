// SPDX-License-Identifier: Apache-2.0
#include "worker.h"

#include <errno.h>
#include <signal.h>
#include <time.h>

#define INTERRUPT_EVERY_NS 5000000
#define INTERRUPTS_MOST 400

static bool catch_interrupts(void);
static void interrupted(int signal);

bool rd_worker_start(struct rd_worker *worker, void *(*run)(void *), void *context, struct rd_error *error) {
  // Other signals are for the main thread.
  sigset_t all, before;
  sigfillset(&all);
  sigdelset(&all, SIGURG);
  pthread_sigmask(SIG_SETMASK, &all, &before);
  int failed = catch_interrupts() ? pthread_create(&worker->thread, NULL, run, context) : errno;
  pthread_sigmask(SIG_SETMASK, &before, NULL);
  worker->running = failed == 0;
  errno = failed;
  if (failed != 0) rd_error_set_errno(error, RD_CODE_INTERNAL, "cannot start a thread");
  return failed == 0;
}

// A signal that comes just before the system call blocks is lost, so it is sent again and again.
bool rd_worker_stop(struct rd_worker *worker) {
  if (!worker->running) return true;
  for (int i = 0; i < INTERRUPTS_MOST; i++) {
    pthread_kill(worker->thread, SIGURG);
    struct timespec until;
    clock_gettime(CLOCK_MONOTONIC, &until);
    until.tv_nsec += INTERRUPT_EVERY_NS;
    if (until.tv_nsec >= 1000000000) until.tv_sec++, until.tv_nsec -= 1000000000;
    if (pthread_clockjoin_np(worker->thread, NULL, CLOCK_MONOTONIC, &until) != 0) continue;
    worker->running = false;
    return true;
  }
  return false;
}

// SIGURG: nobody sends it to us, and it is ignored where it is not caught.
static bool catch_interrupts(void) {
  struct sigaction action = {.sa_handler = interrupted};
  return sigaction(SIGURG, &action, NULL) == 0;
}

static void interrupted(int signal) {
  (void)signal;
}
