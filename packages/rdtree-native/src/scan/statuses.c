// SPDX-License-Identifier: Apache-2.0
#include "scan/statuses.h"

#include "base/io.h"
#include "base/memory.h"
#include "threads/threads.h"

#include <dirent.h>
#include <errno.h>
#include <stdlib.h>

#define NAMES_IN_PORTION 4u
#define PORTIONS_AHEAD 64u
// A name in a cache takes 1 to 2 us, less than a thread takes to wake up; a disk or a server takes 100 us and more.
#define SLOW_NS_PER_NAME 20000

struct portion {
  struct rd_read_job job; // must be first
  const struct rd_statuses *statuses;
  size_t from, count; // names
  bool is_slow;       // what was before, if all of them are directories
  struct {
    int number; // errno; 0: `status` is valid
    struct statx status;
  } of[NAMES_IN_PORTION];
};

struct rd_statuses {
  rd_status_reader *read;
  struct rd_threads *threads;
  int fd;
  const struct rd_names *names;
  size_t begun, taken; // portions; those of [taken, begun) are read ahead
  bool is_slow;        // the portion that was taken last
  struct portion portions[PORTIONS_AHEAD];
};

static void take_portion(struct rd_statuses *statuses);
static void read_ahead(struct rd_statuses *statuses);
static bool begin_portion(struct rd_statuses *statuses);
static struct portion *portion_at(struct rd_statuses *statuses, size_t number);
static void read_portion(struct rd_read_job *job);

struct rd_statuses *rd_statuses_create(unsigned threads, rd_status_reader *read) {
  struct rd_statuses *statuses = rd_memory_new(1, sizeof *statuses);
  statuses->threads = rd_threads_create(threads);
  statuses->read = read;
  for (size_t i = 0; i < PORTIONS_AHEAD; i++) {
    statuses->portions[i].job.run = read_portion;
    statuses->portions[i].statuses = statuses;
  }
  return statuses;
}

void rd_statuses_destroy(struct rd_statuses *statuses) {
  if (statuses == NULL) return;
  rd_threads_destroy(statuses->threads);
  free(statuses);
}

void rd_statuses_begin(struct rd_statuses *statuses, int fd, const struct rd_names *names) {
  statuses->fd = fd;
  statuses->names = names;
  statuses->begun = statuses->taken = 0;
  read_ahead(statuses);
}

bool rd_statuses_read(struct rd_statuses *statuses, size_t index, struct statx *status) {
  size_t number = index / NAMES_IN_PORTION;
  while (statuses->taken <= number) take_portion(statuses);
  const struct portion *portion = portion_at(statuses, number);
  *status = portion->of[index - portion->from].status;
  errno = portion->of[index - portion->from].number;
  return errno == 0;
}

void rd_statuses_end(struct rd_statuses *statuses) {
  while (statuses->taken < statuses->begun) take_portion(statuses);
}

// The portion that was taken before is no longer used.
static void take_portion(struct rd_statuses *statuses) {
  struct portion *portion = portion_at(statuses, statuses->taken);
  if (statuses->taken == statuses->begun) {
    begin_portion(statuses);
    read_portion(&portion->job);
  } else {
    rd_threads_wait(statuses->threads, &portion->job);
  }
  statuses->taken++;
  statuses->is_slow = portion->is_slow;
  read_ahead(statuses);
}

static void read_ahead(struct rd_statuses *statuses) {
  while (statuses->is_slow && statuses->begun - statuses->taken < PORTIONS_AHEAD - 1 && begin_portion(statuses))
    rd_threads_submit(statuses->threads, &portion_at(statuses, statuses->begun - 1)->job);
}

// Returns false if there are no more names.
static bool begin_portion(struct rd_statuses *statuses) {
  struct portion *portion = portion_at(statuses, statuses->begun);
  size_t from = statuses->begun * NAMES_IN_PORTION, left = statuses->names->count - from;
  if (from >= statuses->names->count) return false;
  portion->from = from;
  portion->count = left < NAMES_IN_PORTION ? left : NAMES_IN_PORTION;
  portion->is_slow = statuses->is_slow;
  statuses->begun++;
  return true;
}

static struct portion *portion_at(struct rd_statuses *statuses, size_t number) {
  return &statuses->portions[number % PORTIONS_AHEAD];
}

static void read_portion(struct rd_read_job *job) {
  struct portion *portion = (struct portion *)(void *)job; // its first field
  const struct rd_statuses *statuses = portion->statuses;
  int64_t began_ns = rd_now_ns(), read = 0;
  for (size_t i = 0; i < portion->count; i++) {
    if (statuses->names->at[portion->from + i].type == DT_DIR) continue;
    const char *name = rd_names_text(statuses->names, portion->from + i);
    bool is_read = statuses->read(statuses->fd, name, &portion->of[i].status);
    portion->of[i].number = is_read ? 0 : errno;
    read++;
  }
  if (read > 0) portion->is_slow = rd_now_ns() - began_ns > read * SLOW_NS_PER_NAME;
}
