// SPDX-License-Identifier: Apache-2.0
// Threads that do one thing after another for their owner: jobs are begun in the order in which they were submitted,
// and taken back in that order, however long each of them takes. A job uses the processor only and ends by itself.
// Everything here is called by the owner.
#ifndef RD_BASE_POOL_H
#define RD_BASE_POOL_H

#include <stdatomic.h>
#include <stdbool.h>

#define RD_POOL_THREADS_MOST 64u
#define RD_POOL_JOBS_MOST 256u

struct rd_pool; // opaque

// Part of whatever it is that is to be done; it stays where it is until it was taken back.
struct rd_pool_job {
  atomic_bool done;
};

// `run` does a job with the tools of one thread: `tools` has one more of them than there are threads, the last for the
// owner. Without threads, or when one cannot be started, the owner does all. Threads are started when they are needed
// first. Tools stay the caller's.
struct rd_pool *rd_pool_create(unsigned threads, void (*run)(struct rd_pool_job *job, void *context),
                               void *const *context);
// Waits for the jobs that are being done; those that are not begun are forgotten. NULL-safe.
void rd_pool_destroy(struct rd_pool *pool);

// Hands a job over; at most RD_POOL_JOBS_MOST at a time. With `at_once` the owner does it if nothing else is in work:
// that is sooner than to wake a thread for little.
void rd_pool_submit(struct rd_pool *pool, struct rd_pool_job *job, bool at_once);
// The oldest job, once it is done; NULL: not yet, or there is none.
struct rd_pool_job *rd_pool_take(struct rd_pool *pool);
unsigned rd_pool_pending(const struct rd_pool *pool); // not taken back

// Readable when rd_pool_take() may have one after it had none; -1: no thread was needed so far.
int rd_pool_poll_fd(const struct rd_pool *pool);
void rd_pool_woken(struct rd_pool *pool); // takes the wake-up back

#endif
