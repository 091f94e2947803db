// SPDX-License-Identifier: Apache-2.0
// A bounded queue of jobs, and the threads that run them.
#ifndef RD_TREE_WRITE_JOBS_H
#define RD_TREE_WRITE_JOBS_H

#include "base/error.h"

#include <stddef.h>

struct rd_jobs; // opaque

// Embedded in the structure that the job works on.
struct rd_job {
  void (*run)(struct rd_job *job); // may free the job
  size_t bytes;                    // memory that it holds until it has run
  const void *group;               // of which one job runs at a time, in order; NULL: it has none
  struct rd_job *next;             // used by the queue
};

// Returns NULL (RD_CODE_INTERNAL) if no thread can be started.
struct rd_jobs *rd_jobs_create(unsigned threads, struct rd_error *error);
// Runs the remaining jobs, and ends the threads. NULL-safe.
void rd_jobs_destroy(struct rd_jobs *jobs);

// Adds a job; waits while the queue is full, so jobs must not call it.
void rd_jobs_put(struct rd_jobs *jobs, struct rd_job *job);
// Adds a job before all others, without waiting.
void rd_jobs_put_first(struct rd_jobs *jobs, struct rd_job *job);
// Waits until all jobs have run. Returns false if they have not after `timeout_ms`.
bool rd_jobs_wait(struct rd_jobs *jobs, int timeout_ms);

#endif
