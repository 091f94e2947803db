// SPDX-License-Identifier: Apache-2.0
#include "target/jobs.h"

#include "base/memory.h"
#include "base/worker.h"

#include <stdlib.h>
#include <time.h>

#define QUEUE_MAX_BYTES (32u << 20)
#define QUEUE_MAX_JOBS 8192u

struct thread {
  struct rd_worker worker;
  struct rd_jobs *jobs;
  const void *group; // of the job that it runs
};

struct rd_jobs {
  pthread_mutex_t lock;
  pthread_cond_t has_jobs, has_room;
  struct rd_job *first, **last;
  size_t bytes, count, running; // `bytes` and `count` include the running jobs
  bool is_ending, is_waited_for;
  unsigned thread_count;
  struct thread threads[];
};

static void *run_jobs(void *context);
static struct rd_job *take(struct thread *thread);
static struct rd_job **next_job(struct rd_jobs *jobs);
static bool is_running(const struct rd_jobs *jobs, const void *group);
static void put(struct rd_jobs *jobs, struct rd_job *job, bool is_first);

struct rd_jobs *rd_jobs_create(unsigned threads, struct rd_error *error) {
  struct rd_jobs *jobs = rd_memory_new(1, sizeof *jobs + threads * sizeof *jobs->threads);
  pthread_condattr_t clock;
  pthread_condattr_init(&clock);
  pthread_condattr_setclock(&clock, CLOCK_MONOTONIC);
  pthread_mutex_init(&jobs->lock, NULL);
  pthread_cond_init(&jobs->has_jobs, NULL);
  pthread_cond_init(&jobs->has_room, &clock);
  pthread_condattr_destroy(&clock);
  jobs->last = &jobs->first;
  for (unsigned i = 0; i < threads; i++) jobs->threads[i].jobs = jobs;
  for (struct thread *next = jobs->threads; jobs->thread_count < threads; next++, jobs->thread_count++)
    if (!rd_worker_start(&next->worker, run_jobs, next, error)) break;
  if (jobs->thread_count > 0) return jobs;
  rd_jobs_destroy(jobs);
  return NULL;
}

void rd_jobs_destroy(struct rd_jobs *jobs) {
  if (jobs == NULL) return;
  pthread_mutex_lock(&jobs->lock);
  jobs->is_ending = true;
  pthread_cond_broadcast(&jobs->has_jobs);
  pthread_mutex_unlock(&jobs->lock);
  for (unsigned i = 0; i < jobs->thread_count; i++) pthread_join(jobs->threads[i].worker.thread, NULL);
  pthread_cond_destroy(&jobs->has_jobs);
  pthread_cond_destroy(&jobs->has_room);
  pthread_mutex_destroy(&jobs->lock);
  free(jobs);
}

void rd_jobs_put(struct rd_jobs *jobs, struct rd_job *job) {
  pthread_mutex_lock(&jobs->lock);
  while (jobs->count > 0 && (jobs->bytes + job->bytes > QUEUE_MAX_BYTES || jobs->count >= QUEUE_MAX_JOBS)) {
    jobs->is_waited_for = true;
    pthread_cond_wait(&jobs->has_room, &jobs->lock);
  }
  put(jobs, job, false);
  pthread_mutex_unlock(&jobs->lock);
}

void rd_jobs_put_first(struct rd_jobs *jobs, struct rd_job *job) {
  pthread_mutex_lock(&jobs->lock);
  put(jobs, job, true);
  pthread_mutex_unlock(&jobs->lock);
}

bool rd_jobs_wait(struct rd_jobs *jobs, int timeout_ms) {
  struct timespec until;
  clock_gettime(CLOCK_MONOTONIC, &until);
  until.tv_sec += timeout_ms / 1000;
  until.tv_nsec += timeout_ms % 1000 * 1000000L;
  if (until.tv_nsec >= 1000000000L) until.tv_sec++, until.tv_nsec -= 1000000000L;
  bool is_late = false;
  pthread_mutex_lock(&jobs->lock);
  while (jobs->count > 0 && !is_late) {
    jobs->is_waited_for = true;
    is_late = pthread_cond_timedwait(&jobs->has_room, &jobs->lock, &until) != 0;
  }
  bool is_empty = jobs->count == 0;
  pthread_mutex_unlock(&jobs->lock);
  return is_empty;
}

static void put(struct rd_jobs *jobs, struct rd_job *job, bool is_first) {
  job->next = is_first ? jobs->first : NULL;
  if (is_first)
    jobs->first = job;
  else
    *jobs->last = job;
  if (job->next == NULL) jobs->last = &job->next;
  jobs->bytes += job->bytes;
  jobs->count++;
  pthread_cond_signal(&jobs->has_jobs);
}

static void *run_jobs(void *context) {
  struct thread *thread = context;
  struct rd_jobs *jobs = thread->jobs;
  pthread_mutex_lock(&jobs->lock);
  for (struct rd_job *job; (job = take(thread)) != NULL;) {
    size_t bytes = job->bytes;
    thread->group = job->group;
    pthread_mutex_unlock(&jobs->lock);
    job->run(job);
    pthread_mutex_lock(&jobs->lock);
    thread->group = NULL;
    jobs->bytes -= bytes;
    jobs->count--;
    // Wakes a waiting producer only when there is space for many jobs: each wake-up costs two switches of threads.
    bool has_room = jobs->bytes <= QUEUE_MAX_BYTES / 2 && jobs->count <= QUEUE_MAX_JOBS / 2;
    if (jobs->is_waited_for && has_room) {
      jobs->is_waited_for = jobs->count > 0;
      pthread_cond_broadcast(&jobs->has_room);
    }
  }
  pthread_mutex_unlock(&jobs->lock);
  return NULL;
}

// Waits for a job. Returns NULL when the queue has ended: the rest of a group is left to the thread that runs it.
static struct rd_job *take(struct thread *thread) {
  struct rd_jobs *jobs = thread->jobs;
  struct rd_job **place;
  while (*(place = next_job(jobs)) == NULL && !jobs->is_ending) pthread_cond_wait(&jobs->has_jobs, &jobs->lock);
  struct rd_job *job = *place;
  if (job == NULL) return NULL;
  *place = job->next;
  if (*place == NULL) jobs->last = place;
  return job;
}

// Returns where the first job is whose group does not run; NULL is there if there is none.
static struct rd_job **next_job(struct rd_jobs *jobs) {
  struct rd_job **place = &jobs->first;
  while (*place != NULL && is_running(jobs, (*place)->group)) place = &(*place)->next;
  return place;
}

static bool is_running(const struct rd_jobs *jobs, const void *group) {
  if (group == NULL) return false;
  for (unsigned i = 0; i < jobs->thread_count; i++)
    if (jobs->threads[i].group == group) return true;
  return false;
}
