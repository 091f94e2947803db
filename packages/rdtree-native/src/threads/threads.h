// SPDX-License-Identifier: Apache-2.0
// Threads that read ahead: jobs may wait for a disk or a file server.
#ifndef RD_TREE_THREADS_H
#define RD_TREE_THREADS_H

#include <stdbool.h>

struct rd_threads; // opaque

// Embedded in the caller's job, which must not move until rd_threads_wait() has returned.
struct rd_read_job {
  void (*run)(struct rd_read_job *job);
  struct rd_read_job *before, *after; // of those that wait
  enum { RD_READ_JOB_WAITS, RD_READ_JOB_RUNS, RD_READ_JOB_DONE } state;
};

// At most `most` threads, of which each is started when it is first needed. Never NULL.
struct rd_threads *rd_threads_create(unsigned most);
// Waits for the jobs that run; the others are dropped. NULL-safe.
void rd_threads_destroy(struct rd_threads *threads);

// For the one thread that creates them.
void rd_threads_submit(struct rd_threads *threads, struct rd_read_job *job);
// Returns when it is done. If no thread has begun it, it runs here.
void rd_threads_wait(struct rd_threads *threads, struct rd_read_job *job);

#endif
