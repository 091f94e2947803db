// SPDX-License-Identifier: Apache-2.0
#include "threads/threads.h"

#include "base/memory.h"
#include "base/worker.h"

#include <pthread.h>
#include <stdlib.h>

#define THREADS_MAX 64u

struct rd_threads {
  pthread_mutex_t lock;
  pthread_cond_t has_job, is_done;
  struct rd_read_job *first, *last; // those that wait
  unsigned waiting, idle;
  unsigned most, count;
  bool is_ending;
  struct rd_worker workers[THREADS_MAX];
};

static void *work(void *context);
static void take_out(struct rd_threads *threads, struct rd_read_job *job);
static void start_one(struct rd_threads *threads);

struct rd_threads *rd_threads_create(unsigned most) {
  struct rd_threads *threads = rd_memory_new(1, sizeof *threads);
  pthread_mutex_init(&threads->lock, NULL);
  pthread_cond_init(&threads->has_job, NULL);
  pthread_cond_init(&threads->is_done, NULL);
  threads->most = most < THREADS_MAX ? most : THREADS_MAX;
  return threads;
}

void rd_threads_destroy(struct rd_threads *threads) {
  if (threads == NULL) return;
  pthread_mutex_lock(&threads->lock);
  threads->is_ending = true;
  pthread_cond_broadcast(&threads->has_job);
  pthread_mutex_unlock(&threads->lock);
  for (unsigned i = 0; i < threads->count; i++) pthread_join(threads->workers[i].thread, NULL);
  pthread_cond_destroy(&threads->has_job);
  pthread_cond_destroy(&threads->is_done);
  pthread_mutex_destroy(&threads->lock);
  free(threads);
}

void rd_threads_submit(struct rd_threads *threads, struct rd_read_job *job) {
  pthread_mutex_lock(&threads->lock);
  job->state = RD_READ_JOB_WAITS;
  job->after = NULL;
  job->before = threads->last;
  if (threads->last == NULL)
    threads->first = job;
  else
    threads->last->after = job;
  threads->last = job;
  threads->waiting++;
  if (threads->idle > 0)
    pthread_cond_signal(&threads->has_job);
  else if (threads->count < threads->most)
    start_one(threads);
  pthread_mutex_unlock(&threads->lock);
}

void rd_threads_wait(struct rd_threads *threads, struct rd_read_job *job) {
  pthread_mutex_lock(&threads->lock);
  bool is_mine = job->state == RD_READ_JOB_WAITS;
  if (is_mine) take_out(threads, job);
  while (job->state == RD_READ_JOB_RUNS && !is_mine) pthread_cond_wait(&threads->is_done, &threads->lock);
  pthread_mutex_unlock(&threads->lock);
  if (!is_mine) return;
  job->run(job);
  job->state = RD_READ_JOB_DONE;
}

static void *work(void *context) {
  struct rd_threads *threads = context;
  pthread_mutex_lock(&threads->lock);
  while (!threads->is_ending) {
    struct rd_read_job *job = threads->first;
    if (job == NULL) {
      threads->idle++;
      pthread_cond_wait(&threads->has_job, &threads->lock);
      threads->idle--;
      continue;
    }
    take_out(threads, job);
    pthread_mutex_unlock(&threads->lock);
    job->run(job);
    pthread_mutex_lock(&threads->lock);
    job->state = RD_READ_JOB_DONE;
    pthread_cond_signal(&threads->is_done);
  }
  pthread_mutex_unlock(&threads->lock);
  return NULL;
}

static void take_out(struct rd_threads *threads, struct rd_read_job *job) {
  if (job->before == NULL)
    threads->first = job->after;
  else
    job->before->after = job->after;
  if (job->after == NULL)
    threads->last = job->before;
  else
    job->after->before = job->before;
  threads->waiting--;
  job->state = RD_READ_JOB_RUNS;
}

// Without threads the jobs run where they are waited for.
static void start_one(struct rd_threads *threads) {
  struct rd_error error;
  if (rd_worker_start(&threads->workers[threads->count], work, threads, &error))
    threads->count++;
  else
    threads->most = threads->count;
}
