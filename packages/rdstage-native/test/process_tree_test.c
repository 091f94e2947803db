// SPDX-License-Identifier: Apache-2.0
// Tests of listing and killing real processes.
#include "process/process_tree.h"
#include "test.h"

#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

static struct rd_error error;

static void reap_all(void) {
  while (waitpid(-1, NULL, 0) > 0) continue;
}

static _Noreturn void sleep_for_ever(void) {
  signal(SIGTERM, SIG_IGN);
  for (;;) pause();
}

// Starts a child with `depth` generations below it, each in a session of its own. Each process writes a byte once it
// runs.
static pid_t start_tree(int depth, bool lose_parents) {
  int ready[2];
  REQUIRE(!pipe(ready));
  pid_t pid = fork();
  if (pid == 0) {
    for (int i = 0; i < depth; i++) {
      if (write(ready[1], "x", 1) != 1) _exit(1);
      pid_t below = fork();
      if (below == 0) setsid();
      if (below != 0 && lose_parents && i > 0) _exit(0);
      if (below != 0) sleep_for_ever();
    }
    if (write(ready[1], "x", 1) != 1) _exit(1);
    sleep_for_ever();
  }
  close(ready[1]);
  for (int i = 0; i <= depth; i++) {
    char byte;
    REQUIRE(read(ready[0], &byte, 1) == 1);
  }
  close(ready[0]);
  return pid;
}

static size_t count_below(pid_t root) {
  struct rd_process_list list;
  REQUIRE(rd_process_list_below(root, &list, &error));
  size_t count = list.count;
  rd_process_list_clear(&list);
  return count;
}

static void test_finds_every_generation(void) {
  pid_t pid = start_tree(3, false);
  CHECK(count_below(getpid()) == 4);
  CHECK(count_below(pid) == 3);
  CHECK(rd_process_tree_end(getpid(), WAIT_MS));
  reap_all();
  CHECK(count_below(getpid()) == 0);
}

static void test_finds_orphans(void) {
  start_tree(3, true);
  while (count_below(getpid()) > 2) poll(NULL, 0, 5); // two have exited, or are about to
  CHECK(count_below(getpid()) == 2);
  CHECK(rd_process_tree_end(getpid(), WAIT_MS));
  reap_all();
}

static void test_group_is_not_its_parent(void) {
  struct rd_process_list list;
  pid_t pid = fork();
  if (pid == 0) sleep_for_ever();
  setpgid(pid, pid);
  REQUIRE(rd_process_list_group(pid, &list, &error));
  CHECK(list.count == 1 && list.items[0].pid == pid && list.items[0].group == pid);
  rd_process_list_clear(&list);
  struct rd_process_tree_sweep sweep = {.root = pid, .is_group = true};
  CHECK(rd_process_tree_sweep(&sweep, &error) == 1);
  int status;
  CHECK(waitpid(pid, &status, 0) == pid && WIFSIGNALED(status) && WTERMSIG(status) == SIGKILL);
  CHECK(rd_process_tree_sweep(&sweep, &error) == 0);
}

static void test_leaves_out_excluded_processes(void) {
  pid_t excluded = start_tree(0, false), other = start_tree(0, false);
  struct rd_process_tree_sweep sweep = {.root = getpid(), .excluded = {excluded}, .excluded_count = 1};
  CHECK(rd_process_tree_sweep(&sweep, &error) == 1);
  CHECK(waitpid(other, NULL, 0) == other);
  CHECK(rd_process_tree_sweep(&sweep, &error) == 0);
  CHECK(waitpid(excluded, NULL, WNOHANG) == 0);
  CHECK(!kill(excluded, SIGKILL) && waitpid(excluded, NULL, 0) == excluded);
}

static char state_of(pid_t pid) {
  struct rd_process_list list;
  REQUIRE(rd_process_list_group(pid, &list, &error));
  char state = '?';
  for (size_t i = 0; i < list.count; i++)
    if (list.items[i].pid == pid) state = list.items[i].state;
  rd_process_list_clear(&list);
  return state;
}

static void test_freezes_and_thaws(void) {
  pid_t pid = start_tree(0, false);
  struct rd_process_tree_sweep everything = {.root = getpid()};
  CHECK(rd_process_tree_freeze(&everything, &error));
  CHECK(waitpid(pid, NULL, WUNTRACED) == pid);
  CHECK(state_of(pid) == 'T');
  CHECK(rd_process_tree_thaw(getpid(), &error));
  CHECK(waitpid(pid, NULL, WCONTINUED) == pid);
  CHECK(state_of(pid) != 'T');
  CHECK(rd_process_tree_end(getpid(), WAIT_MS));
  reap_all();
}

// Simulates that another process has got the pid since it was listed.
static void test_signals_the_one_that_was_listed(void) {
  pid_t pid = start_tree(0, false);
  struct rd_process_list list;
  REQUIRE(rd_process_list_below(getpid(), &list, &error) && list.count == 1);
  struct rd_process listed = list.items[0], another = listed;
  rd_process_list_clear(&list);
  CHECK(listed.pid == pid && listed.started > 0);
  another.started--;
  CHECK(rd_process_signal(&another, SIGKILL) == ESRCH);
  CHECK(waitpid(pid, NULL, WNOHANG) == 0);
  CHECK(rd_process_signal(&listed, SIGKILL) == 0);
  CHECK(waitpid(pid, NULL, 0) == pid);
  CHECK(rd_process_signal(&listed, SIGKILL) == ESRCH);
}

static void test_command_line(void) {
  char text[64];
  pid_t pid = fork();
  if (pid == 0) {
    execl("/bin/sh", "sh", "-c", "sleep 1000; exit", "a\tb", NULL);
    _exit(127);
  }
  do rd_process_command(pid, text, sizeof text);
  while (strncmp(text, "sh ", 3) != 0 && waitpid(pid, NULL, WNOHANG) == 0);
  CHECK(strcmp(text, "sh -c sleep 1000; exit a?b") == 0);
  CHECK(rd_process_tree_end(getpid(), WAIT_MS));
  reap_all();
  rd_process_command(pid, text, sizeof text);
  CHECK(*text == '\0');
}

int main(void) {
  prctl(PR_SET_CHILD_SUBREAPER, 1);
  test_finds_every_generation();
  test_finds_orphans();
  test_group_is_not_its_parent();
  test_leaves_out_excluded_processes();
  test_freezes_and_thaws();
  test_signals_the_one_that_was_listed();
  test_command_line();
  return test_end("rdstage process_tree");
}
