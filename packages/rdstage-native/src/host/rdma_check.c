// SPDX-License-Identifier: Apache-2.0
#include "host/rdma_check.h"

#include "base/cleanup.h"
#include "base/io.h"
#include "base/spawn.h"

#include <fcntl.h>
#include <signal.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#define STATUS_UNUSABLE 3

static pid_t start(const char *program, int null_fd, int answer_fd, struct rd_error *error);
static bool wait_for(pid_t pid, int64_t limit_ms, int *status);
static void read_answer(int fd, char *answer, size_t answer_bytes);
static void judge(int status, const char *answer, struct rd_error *why);

bool rd_rdma_check(const char *program, int null_fd, int64_t limit_ms, struct rd_error *why) {
  char answer[sizeof why->message];
  int ends[2], status;
  if (pipe2(ends, O_CLOEXEC)) {
    rd_error_set_errno(why, RD_CODE_INTERNAL, "cannot create a pipe");
    return false;
  }
  RD_AUTO_CLOSE int read_fd = ends[0];
  RD_AUTO_CLOSE int write_fd = ends[1];
  pid_t pid = start(program, null_fd, write_fd, why);
  if (pid < 0) return false;
  if (!wait_for(pid, limit_ms, &status)) {
    rd_error_set(why, RD_CODE_INTERNAL, "rdrecv --rdma-check did not finish within %g s", (double)limit_ms / 1000);
    return false;
  }
  read_answer(read_fd, answer, sizeof answer);
  judge(status, answer, why);
  return WIFEXITED(status) && WEXITSTATUS(status) == 0;
}

static pid_t start(const char *program, int null_fd, int answer_fd, struct rd_error *error) {
  char file[] = "rdhop", name[] = "rdrecv", option[] = "--rdma-check";
  char *arguments[] = {file, name, option, NULL};
  struct rd_spawning spawning = {
      .file = program,
      .arguments = arguments,
      .fds = {null_fd, answer_fd, null_fd},
      .fd_count = 3,
      .group = RD_SPAWN_GROUP_OWN,
  };
  return rd_spawn(&spawning, error);
}

// Returns false if the program took too long and was killed.
static bool wait_for(pid_t pid, int64_t limit_ms, int *status) {
  sigset_t child;
  sigemptyset(&child);
  sigaddset(&child, SIGCHLD);
  int64_t deadline_ms = rd_now_ms() + limit_ms;
  while (waitpid(pid, status, WNOHANG) != pid) {
    int64_t left_ms = deadline_ms - rd_now_ms();
    struct timespec left = {.tv_sec = left_ms / 1000, .tv_nsec = left_ms % 1000 * 1000000};
    if (left_ms > 0 && (sigtimedwait(&child, NULL, &left) == SIGCHLD || errno == EINTR)) continue;
    kill(-pid, SIGKILL);
    while (waitpid(pid, status, 0) < 0 && errno == EINTR) continue;
    return false;
  }
  return true;
}

// The program has ended: the pipe holds as much of its output as fits.
static void read_answer(int fd, char *answer, size_t answer_bytes) {
  rd_set_nonblocking(fd);
  ssize_t bytes = rd_read_some(fd, answer, answer_bytes - 1);
  answer[bytes > 0 ? bytes : 0] = '\0';
  answer[strcspn(answer, "\n")] = '\0';
}

static void judge(int status, const char *answer, struct rd_error *why) {
  if (WIFSIGNALED(status))
    rd_error_set(why, RD_CODE_INTERNAL, "rdrecv --rdma-check was killed by signal %d", WTERMSIG(status));
  else if (WEXITSTATUS(status) == STATUS_UNUSABLE && *answer)
    rd_error_set(why, RD_CODE_CANNOT_CONNECT, "%s", answer);
  else
    rd_error_set(why, RD_CODE_INTERNAL, "rdrecv --rdma-check ended with status %d", WEXITSTATUS(status));
}
