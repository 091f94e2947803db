// SPDX-License-Identifier: Apache-2.0
#include "codec/pool.h"

#include "base/cleanup.h"
#include "base/memory.h"
#include "base/worker.h"

#include <sys/eventfd.h>

struct thread {
  struct rd_pool *pool;
  struct rd_worker worker;
  void *context;
};

struct rd_pool {
  void (*run)(struct rd_pool_job *job, void *context);
  void *own_context;
  struct thread *threads;
  unsigned count, usable, started;
  unsigned taken; // number of jobs since the start, like `begun` and `submitted`; all wrap around
  int event_fd;

  pthread_mutex_t lock; // protects everything below
  pthread_cond_t changed;
  struct rd_pool_job *jobs[RD_POOL_JOBS_MAX]; // a ring: jobs in [taken, begun) are running or done, those in [begun,
                                              // submitted) are waiting
  unsigned begun, submitted;
  struct rd_pool_job *awaited; // the oldest job, if rd_pool_take() found that it was not done yet
  unsigned idle;               // number of waiting threads
  bool stop;
};

static void start_thread(struct rd_pool *pool);
static void *run_jobs(void *context);
static struct rd_pool_job *next_job(struct rd_pool *pool);
static void finish(struct rd_pool *pool, struct rd_pool_job *job);

struct rd_pool *rd_pool_create(unsigned threads, void (*run)(struct rd_pool_job *job, void *context),
                               void *const *context) {
  struct rd_pool *pool = rd_memory_new(1, sizeof *pool);
  struct thread *all = rd_memory_new(threads, sizeof *all);
  *pool = (struct rd_pool){
      .run = run, .own_context = context[threads], .threads = all, .count = threads, .usable = threads};
  for (unsigned i = 0; i < threads; i++) all[i] = (struct thread){.pool = pool, .context = context[i]};
  pthread_mutex_init(&pool->lock, NULL);
  pthread_cond_init(&pool->changed, NULL);
  pool->event_fd = -1;
  return pool;
}

void rd_pool_use(struct rd_pool *pool, unsigned threads) {
  pool->usable = threads < pool->count ? threads : pool->count;
}

void rd_pool_destroy(struct rd_pool *pool) {
  if (pool == NULL) return;
  pthread_mutex_lock(&pool->lock);
  pool->stop = true;
  pthread_cond_broadcast(&pool->changed);
  pthread_mutex_unlock(&pool->lock);
  for (unsigned i = 0; i < pool->started; i++) pthread_join(pool->threads[i].worker.thread, NULL);
  rd_cleanup_fd(&pool->event_fd);
  pthread_cond_destroy(&pool->changed);
  pthread_mutex_destroy(&pool->lock);
  free(pool->threads);
  free(pool);
}

void rd_pool_submit(struct rd_pool *pool, struct rd_pool_job *job, bool at_once) {
  pthread_mutex_lock(&pool->lock);
  atomic_store(&job->done, false);
  bool here = at_once && pool->submitted == pool->taken;
  bool all_busy = pool->submitted - pool->begun >= pool->idle;
  if (!here && all_busy) start_thread(pool);
  here = here || pool->started == 0;
  pool->jobs[pool->submitted++ % RD_POOL_JOBS_MAX] = job;
  if (here)
    pool->begun++;
  else
    pthread_cond_signal(&pool->changed);
  pthread_mutex_unlock(&pool->lock);
  if (!here) return;
  pool->run(job, pool->own_context);
  atomic_store(&job->done, true);
}

struct rd_pool_job *rd_pool_take(struct rd_pool *pool) {
  if (rd_pool_pending(pool) == 0) return NULL;
  struct rd_pool_job *oldest = pool->jobs[pool->taken % RD_POOL_JOBS_MAX];
  if (!atomic_load(&oldest->done)) {
    pthread_mutex_lock(&pool->lock);
    bool done = atomic_load(&oldest->done);
    pool->awaited = done ? NULL : oldest;
    pthread_mutex_unlock(&pool->lock);
    if (!done) return NULL;
  }
  pool->taken++;
  return oldest;
}

unsigned rd_pool_pending(const struct rd_pool *pool) {
  return pool->submitted - pool->taken;
}

bool rd_pool_is_waiting(struct rd_pool *pool) {
  pthread_mutex_lock(&pool->lock);
  bool is_waiting = pool->begun != pool->submitted;
  pthread_mutex_unlock(&pool->lock);
  return is_waiting;
}

int rd_pool_poll_fd(const struct rd_pool *pool) {
  return pool->event_fd;
}

void rd_pool_woken(struct rd_pool *pool) {
  eventfd_t ignored;
  eventfd_read(pool->event_fd, &ignored);
}

// Called with the lock held. On failure the pool continues with fewer threads, or with none.
static void start_thread(struct rd_pool *pool) {
  struct rd_error ignored;
  if (pool->started >= pool->usable) return;
  struct thread *next = &pool->threads[pool->started];
  if (pool->event_fd < 0) pool->event_fd = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
  if (pool->event_fd < 0) return;
  if (rd_worker_start(&next->worker, run_jobs, next, &ignored)) pool->started++;
}

static void *run_jobs(void *context) {
  struct thread *thread = context;
  struct rd_pool *pool = thread->pool;
  for (struct rd_pool_job *job; (job = next_job(pool)) != NULL;) {
    pool->run(job, thread->context);
    finish(pool, job);
  }
  return NULL;
}

// Waits for the next job. Returns NULL if the pool is being destroyed.
static struct rd_pool_job *next_job(struct rd_pool *pool) {
  struct rd_pool_job *job = NULL;
  pthread_mutex_lock(&pool->lock);
  pool->idle++;
  while (pool->begun == pool->submitted && !pool->stop) pthread_cond_wait(&pool->changed, &pool->lock);
  pool->idle--;
  if (!pool->stop) job = pool->jobs[pool->begun++ % RD_POOL_JOBS_MAX];
  pthread_mutex_unlock(&pool->lock);
  return job;
}

// The owner may free the job as soon as it is done.
static void finish(struct rd_pool *pool, struct rd_pool_job *job) {
  pthread_mutex_lock(&pool->lock);
  bool wakes = pool->awaited == job;
  if (wakes) pool->awaited = NULL;
  atomic_store(&job->done, true);
  pthread_mutex_unlock(&pool->lock);
  if (wakes) eventfd_write(pool->event_fd, 1);
}
