// SPDX-License-Identifier: Apache-2.0
#include "codec/pool.h"

#include "base/io.h"
#include "test.h"

#include <poll.h>
#include <string.h>

enum { THREADS = 4, JOBS = 2000 };

struct context {
  unsigned done;
};

struct thing {
  struct rd_pool_job job;
  unsigned number, turns;
  uint64_t sum;
  struct context *by;
};

// A job of variable duration.
static void reckon(struct rd_pool_job *job, void *context) {
  struct thing *thing = (struct thing *)(void *)job;
  thing->sum = thing->number;
  for (unsigned i = 0; i < thing->turns; i++) thing->sum = thing->sum * 6364136223846793005u + 1;
  thing->by = context;
  thing->by->done++;
}

static struct rd_pool *make(unsigned threads, struct context context[THREADS + 1]) {
  void *each[THREADS + 1];
  for (unsigned i = 0; i <= threads; i++) context[i] = (struct context){0}, each[i] = &context[i];
  return rd_pool_create(threads, reckon, each);
}

static struct thing *wait_for_one(struct rd_pool *pool) {
  struct rd_pool_job *job;
  while ((job = rd_pool_take(pool)) == NULL) {
    REQUIRE(rd_wait_fd(rd_pool_poll_fd(pool), POLLIN, 30000) == 1);
    rd_pool_woken(pool);
  }
  return (struct thing *)(void *)job;
}

// Jobs come back in order, each once, whichever thread runs them and however long each takes.
static void in_order(unsigned threads, bool at_once) {
  static struct thing things[JOBS];
  struct context context[THREADS + 1];
  struct rd_pool *pool = make(threads, context);
  unsigned submitted = 0, taken = 0, done = 0;
  memset(things, 0, sizeof things);
  while (taken < JOBS) {
    for (unsigned i = 0; i < 1 + submitted % 7 && submitted < JOBS && rd_pool_pending(pool) < 20; i++) {
      things[submitted].number = submitted;
      things[submitted].turns = submitted * 7919 % 5000;
      rd_pool_submit(pool, &things[submitted++].job, at_once);
    }
    struct thing *thing = wait_for_one(pool);
    struct thing same = {.number = taken, .turns = things[taken].turns};
    reckon(&same.job, &(struct context){0});
    CHECK(thing == &things[taken] && thing->sum == same.sum);
    taken++;
  }
  CHECK(rd_pool_pending(pool) == 0 && rd_pool_take(pool) == NULL);
  rd_pool_destroy(pool);
  for (unsigned i = 0; i <= threads; i++) done += context[i].done;
  CHECK(done == JOBS);
  if (threads == 0) CHECK(context[0].done == JOBS);
  if (threads > 0 && !at_once) CHECK(context[threads].done == 0);
}

// The owner runs the job if no other is pending.
static void at_once(void) {
  struct context context[THREADS + 1];
  struct rd_pool *pool = make(2, context);
  struct thing things[3] = {{.number = 0, .turns = 100000}, {.number = 1}, {.number = 2}};
  CHECK(rd_pool_poll_fd(pool) == -1); // a thread was not needed
  rd_pool_submit(pool, &things[1].job, true);
  CHECK(rd_pool_take(pool) == &things[1].job && things[1].by == &context[2]);
  CHECK(rd_pool_poll_fd(pool) == -1);
  rd_pool_submit(pool, &things[0].job, false);
  rd_pool_submit(pool, &things[1].job, true);
  rd_pool_submit(pool, &things[2].job, true);
  for (unsigned i = 0; i < 3; i++) CHECK(wait_for_one(pool) == &things[i] && things[i].by != &context[2]);
  rd_pool_destroy(pool);
}

// Destroyed with jobs in it: jobs that have begun are finished, and nothing is touched afterwards.
static void destroyed_in_work(void) {
  for (unsigned round = 0; round < 50; round++) {
    struct context context[THREADS + 1];
    struct rd_pool *pool = make(1 + round % THREADS, context);
    struct thing *things = calloc(100, sizeof *things);
    REQUIRE(things != NULL);
    for (unsigned i = 0; i < 100; i++) things[i].turns = 20000, rd_pool_submit(pool, &things[i].job, false);
    for (unsigned i = 0; i < round / 2; i++) CHECK(wait_for_one(pool) == &things[i]);
    rd_pool_destroy(pool);
    free(things);
  }
}

int main(void) {
  for (unsigned threads = 0; threads <= THREADS; threads++) {
    in_order(threads, false);
    in_order(threads, true);
  }
  at_once();
  destroyed_in_work();
  rd_pool_destroy(NULL);
  return test_end("pool");
}
