// SPDX-License-Identifier: Apache-2.0
// `measure COMMAND...` runs a command, waits for it and its descendants, and exits with its status.
// Writes to descriptor 3 the times of start and end, the processor time of all these processes, and the largest memory
// of one of them: `BEGAN_S ENDED_S USER_S SYS_S MAX_RSS_KIB`.
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

enum { REPORT_FD = 3, CANNOT_START = 127, BY_SIGNAL = 128 };

static int run(char **command);
static int wait_for_all(pid_t first);
static double now_s(void);
static double seconds(struct timeval time);

int main(int argc, char **argv) {
  if (argc >= 2 && fcntl(REPORT_FD, F_SETFD, FD_CLOEXEC) == 0) return run(argv + 1);
  fputs("usage: measure COMMAND... 3>FILE\n", stderr);
  return 2;
}

static int run(char **command) {
  // Adopt orphans, so that their time is counted too.
  if (prctl(PR_SET_CHILD_SUBREAPER, 1) != 0) return 1;
  double began_s = now_s();
  pid_t child = fork();
  if (child < 0) return 1;
  if (child == 0) {
    execvp(command[0], command);
    perror(command[0]);
    _exit(CANNOT_START);
  }
  int status = wait_for_all(child);
  double ended_s = now_s();
  struct rusage usage;
  getrusage(RUSAGE_CHILDREN, &usage);
  dprintf(REPORT_FD, "%.6f %.6f %.6f %.6f %ld\n", began_s, ended_s, seconds(usage.ru_utime), seconds(usage.ru_stime),
          usage.ru_maxrss);
  return status;
}

static int wait_for_all(pid_t first) {
  int result = 1;
  for (;;) {
    int status;
    pid_t ended = wait(&status);
    if (ended < 0 && errno == EINTR) continue;
    if (ended < 0) return result;
    if (ended == first) result = WIFEXITED(status) ? WEXITSTATUS(status) : BY_SIGNAL + WTERMSIG(status);
  }
}

static double now_s(void) {
  struct timespec now;
  clock_gettime(CLOCK_MONOTONIC, &now);
  return (double)now.tv_sec + (double)now.tv_nsec / 1e9;
}

static double seconds(struct timeval time) {
  return (double)time.tv_sec + (double)time.tv_usec / 1e6;
}
