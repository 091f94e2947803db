// SPDX-License-Identifier: Apache-2.0
#include "base/io.h"

#include "base/cleanup.h"
#include "test.h"

#include <fcntl.h>
#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <sys/time.h>

enum { WRITTEN_BYTES = 3 << 20 };

static void *drain(void *argument) {
  int fd = *(int *)argument;
  static unsigned char bytes[5000];
  uintptr_t wrong = 0, total = 0;
  for (ssize_t got; (got = rd_read_some(fd, bytes, sizeof bytes)) > 0;)
    for (ssize_t i = 0; i < got; i++) wrong += bytes[i] != (unsigned char)(total++ % 251);
  return (void *)(wrong + (total == WRITTEN_BYTES ? 0 : 1));
}

// The pipe is small and non-blocking, as another process may have made an inherited one.
static void writes_all_of_it(void) {
  int fds[2];
  REQUIRE(pipe2(fds, O_CLOEXEC) == 0 && rd_set_nonblocking(fds[1]));
  REQUIRE(fcntl(fds[1], F_SETPIPE_SZ, 4096) == 4096);
  unsigned char *bytes = malloc(WRITTEN_BYTES);
  REQUIRE(bytes != NULL);
  for (size_t i = 0; i < WRITTEN_BYTES; i++) bytes[i] = (unsigned char)(i % 251);
  pthread_t reader;
  REQUIRE(pthread_create(&reader, NULL, drain, &fds[0]) == 0);
  CHECK(rd_write_all(fds[1], bytes, WRITTEN_BYTES));
  close(fds[1]);
  void *wrong;
  pthread_join(reader, &wrong);
  CHECK(wrong == NULL);
  close(fds[0]);
  free(bytes);
}

static void writing_to_nobody_fails(void) {
  int fds[2];
  REQUIRE(pipe2(fds, O_CLOEXEC) == 0);
  close(fds[0]);
  CHECK(!rd_write_all(fds[1], "x", 1) && errno == EPIPE);
  close(fds[1]);
}

static void ignore_alarm(int number) {
  (void)number;
}

static void waiting_has_an_end(void) {
  int fds[2];
  REQUIRE(pipe2(fds, O_CLOEXEC) == 0);
  // Interrupted every 10 ms: the time limit still holds.
  struct sigaction action = {.sa_handler = ignore_alarm};
  struct itimerval often = {.it_interval = {.tv_usec = 10000}, .it_value = {.tv_usec = 10000}}, never = {0};
  REQUIRE(sigaction(SIGALRM, &action, NULL) == 0 && setitimer(ITIMER_REAL, &often, NULL) == 0);
  int64_t began_ms = rd_now_ms();
  CHECK(rd_wait_fd(fds[0], POLLIN, 100) == 0);
  CHECK(rd_now_ms() - began_ms >= 99);
  setitimer(ITIMER_REAL, &never, NULL);
  CHECK(rd_wait_fd(fds[0], POLLIN, 0) == 0);
  CHECK(rd_write_all(fds[1], "x", 1) && rd_wait_fd(fds[0], POLLIN, 1000) == 1);
  close(fds[0]);
  close(fds[1]);
}

static void pipes_grow_where_they_may(void) {
  int fds[2];
  REQUIRE(pipe2(fds, O_CLOEXEC) == 0);
  int before = fcntl(fds[0], F_GETPIPE_SZ);
  rd_pipe_grow(fds[1]);
  int after = fcntl(fds[0], F_GETPIPE_SZ);
  CHECK(after == RD_PIPE_BYTES || after == before);
  close(fds[0]);
  close(fds[1]);
  rd_pipe_grow(-1); // nothing to grow, no error
}

static int taken_from_a_scope(void) {
  int fds[2];
  REQUIRE(pipe2(fds, O_CLOEXEC) == 0);
  RD_AUTO_CLOSE int closed = fds[0];
  RD_AUTO_CLOSE int kept = fds[1];
  RD_AUTO_FREE char *freed = malloc(1);
  CHECK(freed != NULL && closed >= 0);
  return rd_take_fd(&kept);
}

static void scopes_give_back(void) {
  int kept = taken_from_a_scope();
  CHECK(fcntl(kept, F_GETFD) >= 0);
  CHECK(!rd_write_all(kept, "x", 1) && errno == EPIPE); // the reading end was closed
  close(kept);
}

int main(void) {
  signal(SIGPIPE, SIG_IGN);
  writes_all_of_it();
  writing_to_nobody_fails();
  waiting_has_an_end();
  pipes_grow_where_they_may();
  scopes_give_back();
  return test_end("io");
}
