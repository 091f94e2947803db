// SPDX-License-Identifier: Apache-2.0
// Commands of this program, and consumers started by others: a pid that may have been reused is never signalled.
#include "cli/child.h"
#include "hop/process_group.h"
#include "test.h"

#include <fcntl.h>
#include <signal.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

static struct rd_error error;

static bool is_zombie(pid_t pid) {
  siginfo_t info = {0};
  return waitid(P_PID, (id_t)pid, &info, WEXITED | WNOHANG | WNOWAIT) == 0 && info.si_pid == pid;
}

// The process that the command leaves in its group prints its pid.
static pid_t run_and_leave_one(struct rd_child *child) {
  static char shell[] = "sh", option[] = "-c", script[] = "sleep 1000 & printf '%16d' $!; exit 3";
  static char *command[] = {shell, option, script, NULL};
  *child = RD_NO_CHILD;
  REQUIRE(rd_child_fork(child, command, true, NULL, 0, &error) && rd_child_run(child, &error));
  char text[17] = "";
  size_t got = 0;
  while (got < 16) {
    ssize_t more = read(child->pipe_fd, text + got, 16 - got);
    REQUIRE(more > 0);
    got += (size_t)more;
  }
  return atoi(text);
}

static void test_leader_keeps_its_number(void) {
  struct rd_child child;
  pid_t left = run_and_leave_one(&child);
  CHECK(rd_child_wait(&child, 10000));
  CHECK(rd_child_has_exited(&child) && rd_child_status(&child) == 3);
  CHECK(is_zombie(child.pid));
  CHECK(kill(left, 0) == 0);
  rd_child_signal(&child, SIGKILL);
  char byte;
  CHECK(read(child.pipe_fd, &byte, 1) == 0); // the remaining process held the other end
  CHECK(is_zombie(child.pid));
  CHECK(waitpid(child.pid, NULL, 0) == child.pid);
  close(child.pipe_fd);
}

static void test_tells_the_signal(void) {
  static char shell[] = "sh", option[] = "-c", script[] = "kill -TERM $$";
  static char *command[] = {shell, option, script, NULL};
  struct rd_child child = RD_NO_CHILD;
  REQUIRE(rd_child_fork(&child, command, true, NULL, 0, &error) && rd_child_run(&child, &error));
  CHECK(rd_child_wait(&child, 10000) && rd_child_status(&child) == 128 + SIGTERM);
  CHECK(waitpid(child.pid, NULL, 0) == child.pid);
  close(child.pipe_fd);
}

// Also works if the pipes of the child have that number.
static void test_gets_settings(void) {
  static char shell[] = "sh", option[] = "-c", script[] = "cat <&3";
  static char *command[] = {shell, option, script, NULL};
  struct rd_child child = RD_NO_CHILD;
  char text[8] = "";
  int settings = memfd_create("settings", MFD_CLOEXEC);
  REQUIRE(settings >= 0 && write(settings, "{}", 2) == 2 && lseek(settings, 0, SEEK_SET) == 0);
  int moved = fcntl(settings, F_DUPFD_CLOEXEC, 64); // the lowest numbers are used for the pipes
  close(settings);
  REQUIRE(rd_child_fork(&child, command, true, &moved, 1, &error) && rd_child_run(&child, &error));
  CHECK(read(child.pipe_fd, text, sizeof text - 1) == 2 && strcmp(text, "{}") == 0);
  CHECK(rd_child_wait(&child, 10000) && rd_child_status(&child) == 0);
  CHECK(waitpid(child.pid, NULL, 0) == child.pid);
  close(child.pipe_fd);
  close(moved);
}

static pid_t start_group(void) {
  pid_t pid = fork();
  if (pid == 0) {
    setpgid(0, 0);
    for (;;) pause();
  }
  setpgid(pid, pid);
  return pid;
}

static void test_kills_a_group(void) {
  pid_t leader = start_group();
  struct rd_process_group consumer = rd_process_group_of(leader);
  rd_process_group_kill(&consumer, 10000);
  int status;
  CHECK(waitpid(leader, &status, 0) == leader && WIFSIGNALED(status) && WTERMSIG(status) == SIGKILL);
  rd_process_group_forget(&consumer);
}

// A process that was already reaped is not accepted: another process may have its pid.
static void test_knows_none_that_was_reaped(void) {
  pid_t gone = fork();
  if (gone == 0) _exit(0);
  CHECK(waitpid(gone, NULL, 0) == gone);
  struct rd_process_group consumer = rd_process_group_of(gone);
  int self_fd = (int)syscall(SYS_pidfd_open, getpid(), 0);
  if (self_fd >= 0) CHECK(consumer.pid == 0 && consumer.pid_fd < 0); // an old kernel has no descriptors to check it by
  if (self_fd >= 0) close(self_fd);
  rd_process_group_kill(&consumer, 0);
  rd_process_group_forget(&consumer);
}

int main(void) {
  test_leader_keeps_its_number();
  test_tells_the_signal();
  test_gets_settings();
  test_kills_a_group();
  test_knows_none_that_was_reaped();
  return test_end("rdendpoint child");
}
