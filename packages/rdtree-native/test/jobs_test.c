// SPDX-License-Identifier: Apache-2.0
// Tests the queue of jobs: all of them run, those of a group one at a time and in order.
#include "target/jobs.h"

#include "base/memory.h"
#include "test.h"

#include <stdatomic.h>
#include <stdlib.h>

enum { JOBS = 3000, GROUPS = 3, THREADS = 4 };

struct group {
  atomic_int running, next;
};

struct counted {
  struct rd_job job; // its first field
  struct group *group;
  int number; // in its group
};

static struct rd_error error;
static struct group groups[GROUPS];
static atomic_int others, disorders;

static void run(struct rd_job *job) {
  struct counted *counted = (struct counted *)(void *)job;
  struct group *group = counted->group;
  if (group == NULL) {
    atomic_fetch_add(&others, 1);
  } else {
    if (atomic_fetch_add(&group->running, 1) != 0) atomic_fetch_add(&disorders, 1);
    if (atomic_fetch_add(&group->next, 1) != counted->number) atomic_fetch_add(&disorders, 1);
    atomic_fetch_sub(&group->running, 1);
  }
  free(counted);
}

static void put(struct rd_jobs *jobs, struct group *group, int number) {
  struct counted *counted = rd_memory_new(1, sizeof *counted);
  *counted = (struct counted){.job = {.run = run, .bytes = 1, .group = group}, .group = group, .number = number};
  rd_jobs_put(jobs, &counted->job);
}

int main(void) {
  struct rd_jobs *jobs = rd_jobs_create(THREADS, &error);
  REQUIRE(jobs != NULL);
  for (int i = 0; i < JOBS; i++) {
    put(jobs, &groups[i % GROUPS], i / GROUPS);
    if (i % 7 == 0) put(jobs, NULL, 0);
  }
  rd_jobs_destroy(jobs); // runs what is left
  for (int i = 0; i < GROUPS; i++) CHECK(groups[i].next == JOBS / GROUPS);
  CHECK(others == (JOBS + 6) / 7);
  CHECK(disorders == 0);
  rd_jobs_destroy(NULL);
  return test_end("rdtree jobs");
}
