// SPDX-License-Identifier: Apache-2.0
#include "base/spawn.h"

#include "base/cleanup.h"
#include "base/io.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/prctl.h>
#include <sys/signalfd.h>
#include <sys/wait.h>
#include <unistd.h>

static _Noreturn void exec_child(const struct rd_spawning *spawning, int report_fd);
static void reset_signals(void);
static void join_group(enum rd_spawn_group group);
static bool place_descriptors(const struct rd_spawning *spawning);

pid_t rd_spawn(const struct rd_spawning *spawning, struct rd_error *error) {
  int report[2];
  if (pipe2(report, O_CLOEXEC)) {
    rd_error_set_errno(error, RD_CODE_INTERNAL, "cannot start %s", spawning->file);
    return -1;
  }
  RD_AUTO_CLOSE int report_read = report[0];
  RD_AUTO_CLOSE int report_write = report[1];
  pid_t pid = fork();
  if (pid == 0) exec_child(spawning, report_write);
  if (pid < 0) {
    rd_error_set_errno(error, RD_CODE_INTERNAL, "cannot start %s", spawning->file);
    return -1;
  }
  if (spawning->group == RD_SPAWN_GROUP_OWN) setpgid(pid, pid); // the child does this as well: either may run first
  rd_cleanup_fd(&report_write);
  int failure = 0;
  if (rd_read_some(report_read, &failure, sizeof failure) != (ssize_t)sizeof failure) return pid;
  while (waitpid(pid, NULL, 0) < 0 && errno == EINTR) continue;
  errno = failure;
  rd_error_set_errno(error, RD_CODE_INTERNAL, "cannot start %s", spawning->file);
  return -1;
}

bool rd_spawn_is_dead(pid_t pid) {
  siginfo_t info = {0};
  return !waitid(P_PID, (id_t)pid, &info, WEXITED | WNOHANG | WNOWAIT) && info.si_pid == pid;
}

int rd_spawn_signals(struct rd_error *error) {
  sigset_t signals;
  sigemptyset(&signals);
  sigaddset(&signals, SIGCHLD);
  sigaddset(&signals, SIGTERM);
  sigaddset(&signals, SIGINT);
  sigaddset(&signals, SIGHUP);
  sigprocmask(SIG_BLOCK, &signals, NULL);
  int fd = signalfd(-1, &signals, SFD_CLOEXEC | SFD_NONBLOCK);
  if (fd < 0) rd_error_set_errno(error, RD_CODE_INTERNAL, "cannot wait for signals");
  return fd;
}

bool rd_spawn_protect_descriptors(struct rd_error *error) {
  DIR *directory = opendir("/proc/self/fd");
  if (directory == NULL) {
    rd_error_set_errno(error, RD_CODE_INTERNAL, "cannot read /proc/self/fd");
    return false;
  }
  for (const struct dirent *entry; (entry = readdir(directory)) != NULL;) {
    int fd = atoi(entry->d_name);
    if (fd > 2) fcntl(fd, F_SETFD, FD_CLOEXEC);
  }
  closedir(directory);
  return true;
}

int rd_spawn_null_device(struct rd_error *error) {
  int fd = open("/dev/null", O_RDWR | O_CLOEXEC);
  if (fd < 0) rd_error_set_errno(error, RD_CODE_INTERNAL, "cannot open /dev/null");
  return fd;
}

static _Noreturn void exec_child(const struct rd_spawning *spawning, int report_fd) {
  join_group(spawning->group);
  int report = fcntl(report_fd, F_DUPFD_CLOEXEC, (int)(spawning->fd_count + spawning->more_count));
  if (report >= 0 && place_descriptors(spawning)) {
    reset_signals();
    if (spawning->before_exec != NULL) spawning->before_exec(spawning->context);
    execvp(spawning->file, spawning->arguments);
  }
  int failure = errno;
  rd_write_all(report >= 0 ? report : report_fd, &failure, sizeof failure);
  _exit(127);
}

static void join_group(enum rd_spawn_group group) {
  if (group == RD_SPAWN_GROUP_OWN) setpgid(0, 0);
  if (group == RD_SPAWN_GROUP_SESSION) {
    setsid();
    prctl(PR_SET_PDEATHSIG, SIGKILL);
  }
}

// First duplicates all of them to higher numbers: a descriptor may have the number that another one is to get.
static bool place_descriptors(const struct rd_spawning *spawning) {
  size_t count = spawning->fd_count + spawning->more_count;
  RD_AUTO_FREE int *moved = calloc(count, sizeof *moved);
  if (moved == NULL) return false;
  for (size_t i = 0; i < count; i++) {
    int fd = i < spawning->fd_count ? spawning->fds[i] : spawning->more_fds[i - spawning->fd_count];
    moved[i] = fcntl(fd, F_DUPFD_CLOEXEC, (int)count);
    if (moved[i] < 0) return false;
  }
  for (size_t i = 0; i < count; i++)
    if (dup2(moved[i], (int)i) < 0) return false;
  return true;
}

static void reset_signals(void) {
  for (int number = 1; number <= SIGRTMAX; number++) {
    if (number == SIGKILL || number == SIGSTOP) continue;
    signal(number, SIG_DFL); // fails for the two signals that the C library reserves
  }
  sigset_t none;
  sigemptyset(&none);
  sigprocmask(SIG_SETMASK, &none, NULL);
}
