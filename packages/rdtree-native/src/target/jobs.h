// SPDX-License-Identifier: Apache-2.0
// A bounded queue of jobs, and the threads that run them.
#ifndef RD_TREE_WRITE_JOBS_H
#define RD_TREE_WRITE_JOBS_H

#include "base/error.h"

#include <stddef.h>

struct rd_jobs; // opaque

// Embedded in what the job is about.
struct rd_job {
  void (*run)(struct rd_job *job); // may free the job
  size_t bytes;                    // that it holds until it has run
  struct rd_job *next;             // the queue's own
};

// NULL (RD_CODE_INTERNAL): no thread can be started.
struct rd_jobs *rd_jobs_create(unsigned threads, struct rd_error *error);
// Runs what is left, and ends the threads. NULL-safe.
void rd_jobs_destroy(struct rd_jobs *jobs);

// Waits while the queue holds too much. Not for jobs themselves.
void rd_jobs_put(struct rd_jobs *jobs, struct rd_job *job);
// Before all others, and never waits.
void rd_jobs_put_first(struct rd_jobs *jobs, struct rd_job *job);
// Waits until all have run, or for `timeout_ms`: then false.
bool rd_jobs_wait(struct rd_jobs *jobs, int timeout_ms);

#endif
