// SPDX-License-Identifier: Apache-2.0
// Tests that metadata is read ahead by several threads if it arrives slowly, and given out by name.
#include "scan/statuses.h"

#include "test.h"

#include <dirent.h>
#include <errno.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

// The first names are slow; the next ones get no answer before AT_ONCE of them are asked about at the same time.
enum { NAMES = 2000, SLOW = 20, AT_ONCE = 4, THREADS = 8, FD = 7, LIMIT_S = 60, NAME_BYTES = 12 };

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t changed = PTHREAD_COND_INITIALIZER;
static int asked;
static char text[NAMES * NAME_BYTES];
static struct rd_found_name found[NAMES];
static const struct rd_names names = {.at = found, .count = NAMES, .text = text};

static bool is_directory(int number) {
  return number % 5 == 3 || (number >= 400 && number < 420);
}

static bool is_gone(int number) {
  return number % 7 == 0;
}

static void wait_for_others(void) {
  struct timespec until;
  clock_gettime(CLOCK_REALTIME, &until);
  until.tv_sec += LIMIT_S;
  pthread_mutex_lock(&lock);
  asked++;
  pthread_cond_broadcast(&changed);
  while (asked < AT_ONCE && pthread_cond_timedwait(&changed, &lock, &until) == 0) continue;
  CHECK(asked >= AT_ONCE);
  pthread_mutex_unlock(&lock);
}

static bool read_slowly(int fd, const char *name, struct statx *status) {
  int number = (int)strtol(name, NULL, 10);
  CHECK(fd == FD && !is_directory(number));
  if (number < SLOW)
    nanosleep(&(struct timespec){.tv_nsec = 1000000}, NULL);
  else
    wait_for_others();
  errno = is_gone(number) ? ENOENT : 0;
  status->stx_size = (__u64)number;
  return errno == 0;
}

static bool read_now(int fd, const char *name, struct statx *status) {
  status->stx_size = (__u64)strtol(name, NULL, 10);
  return fd == FD;
}

static void read_names(struct rd_statuses *statuses, int count, bool some_are_gone) {
  rd_statuses_begin(statuses, FD, &names);
  for (int i = 0; i < count; i++) {
    struct statx status = {0};
    if (is_directory(i)) continue;
    bool is_read = rd_statuses_read(statuses, (size_t)i, &status);
    CHECK(is_read == !(some_are_gone && is_gone(i)));
    CHECK(is_read ? status.stx_size == (__u64)i : errno == ENOENT);
  }
  rd_statuses_end(statuses);
}

int main(void) {
  for (int i = 0; i < NAMES; i++) {
    snprintf(text + NAME_BYTES * i, NAME_BYTES, "%d", i);
    found[i] = (struct rd_found_name){(uint32_t)(NAME_BYTES * i), is_directory(i) ? DT_DIR : DT_REG};
  }
  struct rd_statuses *statuses = rd_statuses_create(THREADS, read_slowly);
  read_names(statuses, NAMES, true);
  read_names(statuses, NAMES / 2, true); // the rest is dropped
  read_names(statuses, NAMES, true);
  rd_statuses_destroy(statuses);
  statuses = rd_statuses_create(THREADS, read_now);
  read_names(statuses, NAMES, false);
  read_names(statuses, 0, false);
  rd_statuses_destroy(statuses);
  rd_statuses_destroy(NULL);
  return test_end("rdtree statuses");
}
