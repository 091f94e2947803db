// SPDX-License-Identifier: Apache-2.0
// Tests of the guardian and of the messages to it.
#include "base/cleanup.h"
#include "process/process_tree.h"
#include "run/guardian.h"
#include "run/guardian_messages.h"
#include "test.h"

#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/wait.h>

static struct rd_error error;

static void test_messages(void) {
  int ends[2], ours[2], fd;
  struct rd_guardian_message message;
  REQUIRE(!socketpair(AF_UNIX, SOCK_SEQPACKET, 0, ends) && !pipe(ours));
  CHECK(rd_guardian_hold(ends[0], 7, ours[1], &error) && rd_guardian_release(ends[0], 7, &error));
  CHECK(rd_guardian_receive(ends[1], &message, &fd) && message.type == RD_GUARDIAN_HOLD && message.number == 7);
  CHECK(fd > 2 && (fcntl(fd, F_GETFD) & FD_CLOEXEC) && write(fd, "x", 1) == 1);
  rd_cleanup_fd(&fd);
  CHECK(rd_guardian_receive(ends[1], &message, &fd) && message.type == RD_GUARDIAN_RELEASE && fd == -1);
  CHECK(rd_guardian_alive(ends[0], 250, &error));
  CHECK(rd_guardian_receive(ends[1], &message, &fd) && message.type == RD_GUARDIAN_ALIVE && message.number == 250);
  CHECK(rd_guardian_finished(ends[0], &error));
  close(ends[0]);
  CHECK(rd_guardian_receive(ends[1], &message, &fd) && message.type == RD_GUARDIAN_FINISHED);
  CHECK(!rd_guardian_receive(ends[1], &message, &fd) && fd == -1);
  CHECK(!rd_guardian_finished(ends[1], &error) && error.code == RD_CODE_INTERNAL);
  close(ends[1]);
  close(ours[0]);
  close(ours[1]);
}

struct agent_ends {
  pid_t guardian;
  int stdin_fd; // the standard input of a consumer
};

// Starts a guardian and its supervisor, which holds the other end of `stdin_fd`, starts a sleeper, and ends with
// `last_words`.
static struct agent_ends start_agent(void (*last_words)(int guard_fd)) {
  int ours[2];
  REQUIRE(!pipe2(ours, O_CLOEXEC));
  pid_t guardian = fork();
  if (guardian == 0) {
    int ends[2];
    prctl(PR_SET_CHILD_SUBREAPER, 1);
    if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, ends)) _exit(99);
    pid_t supervisor = fork();
    if (supervisor == 0) {
      close(ends[0]);
      if (!rd_guardian_hold(ends[1], 1, ours[1], &error)) _exit(98);
      close(ours[1]);
      if (fork() == 0) {
        close(ends[1]);
        for (;;) pause(); // reads ours[0]
      }
      last_words(ends[1]);
      _exit(0);
    }
    close(ours[0]);
    close(ours[1]);
    close(ends[1]);
    _exit(rd_guardian_run(supervisor, ends[0]));
  }
  close(ours[1]);
  return (struct agent_ends){guardian, ours[0]};
}

static void say_nothing(int guard_fd) {
  (void)guard_fd;
}

static void release_and_finish(int guard_fd) {
  rd_guardian_release(guard_fd, 1, &error);
  rd_guardian_finished(guard_fd, &error);
}

static void finish_only(int guard_fd) {
  rd_guardian_finished(guard_fd, &error);
}

static void hang(int guard_fd) {
  rd_guardian_alive(guard_fd, 100, &error);
  for (;;) raise(SIGSTOP);
}

// Returns the number of living processes below this one.
static size_t living(void) {
  struct rd_process_list list;
  REQUIRE(rd_process_list_below(getpid(), &list, &error));
  size_t count = list.count;
  rd_process_list_clear(&list);
  return count;
}

static int exit_status(pid_t pid) {
  int status;
  REQUIRE(waitpid(pid, &status, 0) == pid && WIFEXITED(status));
  return WEXITSTATUS(status);
}

static bool sees_end_of_file(int fd) {
  struct pollfd polled = {.fd = fd, .events = POLLIN};
  return poll(&polled, 1, 0) == 1 && (polled.revents & POLLHUP);
}

static void test_supervisor_that_died(void) {
  struct agent_ends agent = start_agent(say_nothing);
  CHECK(exit_status(agent.guardian) == EXIT_FAILURE);
  CHECK(living() == 0);
  CHECK(sees_end_of_file(agent.stdin_fd)); // this process does not belong to the run
  close(agent.stdin_fd);
}

static void test_supervisor_that_hangs(void) {
  struct agent_ends agent = start_agent(hang);
  CHECK(exit_status(agent.guardian) == EXIT_FAILURE);
  CHECK(living() == 0);
  close(agent.stdin_fd);
}

static void test_supervisor_that_finished(void) {
  struct agent_ends agent = start_agent(release_and_finish);
  CHECK(exit_status(agent.guardian) == EXIT_SUCCESS);
  CHECK(living() == 1); // the sleeper, a daemon now
  CHECK(sees_end_of_file(agent.stdin_fd));
  close(agent.stdin_fd);
  CHECK(rd_process_tree_end(getpid(), WAIT_MS));
}

static void test_hold_that_stays_behind(void) {
  struct agent_ends agent = start_agent(finish_only);
  CHECK(exit_status(agent.guardian) == EXIT_SUCCESS);
  CHECK(living() == 2); // the sleeper, which was not killed, and the process that holds its input open
  CHECK(!sees_end_of_file(agent.stdin_fd));
  close(agent.stdin_fd);
  CHECK(rd_process_tree_end(getpid(), WAIT_MS));
}

int main(void) {
  prctl(PR_SET_CHILD_SUBREAPER, 1);
  signal(SIGPIPE, SIG_IGN);
  alarm((unsigned)WAIT_MS / 1000);
  test_messages();
  test_supervisor_that_died();
  test_supervisor_that_hangs();
  test_supervisor_that_finished();
  test_hold_that_stays_behind();
  return test_end("rdstage guardian");
}
