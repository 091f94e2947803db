// SPDX-License-Identifier: Apache-2.0
#include "base/worker.h"

#include <errno.h>
#include <signal.h>
#include <stdint.h>
#include <time.h>

#define PAUSE_MIN_NS 50000L
#define PAUSE_MAX_NS 5000000L
#define STOP_MAX_NS 2000000000

// The default is the limit of the process, often 8 MiB: too much for many threads if the address space is limited.
#define STACK_BYTES (1u << 20)

static int create_thread(struct rd_worker *worker, void *(*run)(void *), void *context);
static bool catch_interrupts(void);
static void interrupted(int signal);

bool rd_worker_start(struct rd_worker *worker, void *(*run)(void *), void *context, struct rd_error *error) {
  // The main thread handles all other signals.
  sigset_t all, before;
  sigfillset(&all);
  sigdelset(&all, SIGURG);
  pthread_sigmask(SIG_SETMASK, &all, &before);
  int failed = catch_interrupts() ? create_thread(worker, run, context) : errno;
  pthread_sigmask(SIG_SETMASK, &before, NULL);
  worker->running = failed == 0;
  errno = failed;
  if (failed != 0) rd_error_set_errno(error, RD_CODE_INTERNAL, "cannot start a thread");
  return failed == 0;
}

// A signal that arrives just before the system call blocks is lost, so it is sent repeatedly. Signals and pauses
// alternate, because pthread_timedjoin_np() uses a clock that may jump.
bool rd_worker_stop(struct rd_worker *worker) {
  long pause_ns = PAUSE_MIN_NS;
  for (int64_t paused_ns = 0; worker->running && paused_ns < STOP_MAX_NS; paused_ns += pause_ns) {
    pthread_kill(worker->thread, SIGURG);
    worker->running = pthread_tryjoin_np(worker->thread, NULL) != 0;
    if (!worker->running) break;
    nanosleep(&(struct timespec){.tv_nsec = pause_ns}, NULL);
    pause_ns = 2 * pause_ns < PAUSE_MAX_NS ? 2 * pause_ns : PAUSE_MAX_NS;
  }
  return !worker->running;
}

// Returns 0 or an error number.
static int create_thread(struct rd_worker *worker, void *(*run)(void *), void *context) {
  pthread_attr_t attributes;
  int failed = pthread_attr_init(&attributes);
  if (failed != 0) return failed;
  failed = pthread_attr_setstacksize(&attributes, STACK_BYTES);
  if (failed == 0) failed = pthread_create(&worker->thread, &attributes, run, context);
  pthread_attr_destroy(&attributes);
  return failed;
}

// SIGURG is not used for anything else here, and is ignored by default.
static bool catch_interrupts(void) {
  struct sigaction action = {.sa_handler = interrupted};
  return sigaction(SIGURG, &action, NULL) == 0;
}

static void interrupted(int signal) {
  (void)signal;
}
