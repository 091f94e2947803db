// SPDX-License-Identifier: Apache-2.0
// A pool without threads, for one thread: a job that its owner may run at once is run at once; any other job runs when
// it is asked for a second time, so that the owner also sees jobs that are not done yet.
#include "codec/pool.h"

#include "fuzz.h"
#include "loop_harness.h"

struct rd_pool {
  void (*run)(struct rd_pool_job *job, void *context);
  void *context;
  struct rd_pool_job *jobs[RD_POOL_JOBS_MAX];
  unsigned submitted, taken;
  bool was_asked;
};

struct rd_pool *rd_pool_create(unsigned threads, void (*run)(struct rd_pool_job *job, void *context),
                               void *const *context) {
  struct rd_pool *pool = calloc(1, sizeof *pool);
  FUZZ_REQUIRE(pool != NULL);
  pool->run = run;
  pool->context = context[threads];
  return pool;
}

void rd_pool_use(struct rd_pool *pool, unsigned threads) {
  (void)pool;
  (void)threads;
}

void rd_pool_destroy(struct rd_pool *pool) {
  free(pool);
}

void rd_pool_submit(struct rd_pool *pool, struct rd_pool_job *job, bool at_once) {
  FUZZ_REQUIRE(rd_pool_pending(pool) < RD_POOL_JOBS_MAX);
  atomic_store(&job->done, at_once && !loop_harness_is_slow() && rd_pool_pending(pool) == 0);
  pool->jobs[pool->submitted++ % RD_POOL_JOBS_MAX] = job;
  if (job->done) pool->run(job, pool->context);
}

struct rd_pool_job *rd_pool_take(struct rd_pool *pool) {
  if (rd_pool_pending(pool) == 0) return NULL;
  struct rd_pool_job *oldest = pool->jobs[pool->taken % RD_POOL_JOBS_MAX];
  if (!oldest->done && !pool->was_asked) {
    pool->was_asked = true;
    return NULL;
  }
  pool->was_asked = false;
  if (!oldest->done) pool->run(oldest, pool->context);
  pool->taken++;
  return oldest;
}

unsigned rd_pool_pending(const struct rd_pool *pool) {
  return pool->submitted - pool->taken;
}

bool rd_pool_is_waiting(struct rd_pool *pool) {
  for (unsigned i = pool->taken; i != pool->submitted; i++)
    if (!pool->jobs[i % RD_POOL_JOBS_MAX]->done) return true;
  return false;
}

int rd_pool_poll_fd(const struct rd_pool *pool) {
  return pool->was_asked ? FAKE_WORK_FD : -1;
}

void rd_pool_woken(struct rd_pool *pool) {
  (void)pool;
}
