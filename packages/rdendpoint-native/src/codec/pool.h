// SPDX-License-Identifier: Apache-2.0
// A pool of threads that runs jobs and returns them in the order in which they were submitted.
// A job only uses the CPU and ends on its own. One thread, the owner, calls all of these functions.
#ifndef RD_CODEC_POOL_H
#define RD_CODEC_POOL_H

#include <stdatomic.h>
#include <stdbool.h>

#define RD_POOL_THREADS_MAX 64u
#define RD_POOL_JOBS_MAX 256u

struct rd_pool; // opaque

// Embedded in the caller's job, which must not move until rd_pool_take() returns it.
struct rd_pool_job {
  atomic_bool done;
};

// `run` runs a job with its thread's context: one for each thread, and a last one for the owner; the contexts remain
// the caller's. A thread is started when it is first needed. If there are no threads, or none can be started, the owner
// runs the jobs.
struct rd_pool *rd_pool_create(unsigned threads, void (*run)(struct rd_pool_job *job, void *context),
                               void *const *context);
// Starts at most `threads` threads from now on, and never more than were created; those that run stay.
void rd_pool_use(struct rd_pool *pool, unsigned threads);
// Waits for running jobs; drops jobs that have not begun. Accepts NULL.
void rd_pool_destroy(struct rd_pool *pool);

// Submits a job; at most RD_POOL_JOBS_MAX may be pending. With `at_once` the owner runs it itself if no other job is
// pending, because waking a thread takes longer than a small job.
void rd_pool_submit(struct rd_pool *pool, struct rd_pool_job *job, bool at_once);
// Returns the oldest job if it is done, otherwise NULL.
struct rd_pool_job *rd_pool_take(struct rd_pool *pool);
unsigned rd_pool_pending(const struct rd_pool *pool); // jobs submitted and not yet taken
// Returns true if a submitted job has not begun.
bool rd_pool_is_waiting(struct rd_pool *pool);

// Readable when rd_pool_take() may return a job after it returned NULL; -1: no thread has been needed so far.
int rd_pool_poll_fd(const struct rd_pool *pool);
void rd_pool_woken(struct rd_pool *pool); // clears the wake-up

#endif
