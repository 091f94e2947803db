// SPDX-License-Identifier: Apache-2.0
// Runs a program whose disk fails: failing-call CALL NUMBER PROGRAM [WORD...]. The system call CALL of the program and
// of its descendants fails with EIO: the one of this number, or, with 0, each of them.
#include <errno.h>
#include <fcntl.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <poll.h>
#include <sched.h>
#include <signal.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

static const struct {
  const char *name;
  unsigned number;
} calls[] = {{"fsync", SYS_fsync}, {"pwrite64", SYS_pwrite64}, {"renameat", SYS_renameat}, {"syncfs", SYS_syncfs}};

static unsigned number_of(const char *name) {
  for (size_t i = 0; i < sizeof calls / sizeof *calls; i++)
    if (strcmp(calls[i].name, name) == 0) return calls[i].number;
  fprintf(stderr, "failing-call: %s is not one of its calls\n", name);
  exit(2);
}

static _Noreturn void run(unsigned call, char **words, int listeners) {
  struct sock_filter filter[] = {
      BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr)),
      BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, call, 0, 1),
      BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_USER_NOTIF),
      BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
  };
  struct sock_fprog program = {sizeof filter / sizeof *filter, filter};
  prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0);
  int listener = (int)syscall(SYS_seccomp, SECCOMP_SET_MODE_FILTER, SECCOMP_FILTER_FLAG_NEW_LISTENER, &program);
  if (write(listeners, &listener, sizeof listener) == sizeof listener && listener >= 0) execvp(words[0], words);
  perror("failing-call");
  _exit(127);
}

// Until no process with the filter is left.
static void answer_calls(int listener, unsigned failing) {
  struct pollfd poll_fd = {.fd = listener, .events = POLLIN};
  for (unsigned count = 1; poll(&poll_fd, 1, -1) > 0 && !(poll_fd.revents & POLLHUP); count++) {
    struct seccomp_notif call = {0};
    struct seccomp_notif_resp answer = {0};
    if (ioctl(listener, SECCOMP_IOCTL_NOTIF_RECV, &call) < 0) continue; // its process has ended
    answer.id = call.id;
    if (failing == 0 || failing == count)
      answer.error = -EIO;
    else
      answer.flags = SECCOMP_USER_NOTIF_FLAG_CONTINUE;
    (void)ioctl(listener, SECCOMP_IOCTL_NOTIF_SEND, &answer);
  }
}

int main(int argc, char **argv) {
  if (argc < 4) return 2;
  unsigned call = number_of(argv[1]), failing = (unsigned)strtoul(argv[2], NULL, 10);
  int listeners[2], listener;
  if (pipe2(listeners, O_CLOEXEC) < 0) return 2;
  // The child shares this process's table of descriptors until it executes: its listener stays here.
  pid_t child = (pid_t)syscall(SYS_clone, CLONE_FILES | SIGCHLD, NULL, NULL, NULL, NULL);
  if (child == 0) run(call, argv + 3, listeners[1]);
  if (child < 0 || read(listeners[0], &listener, sizeof listener) != sizeof listener || listener < 0) return 2;
  answer_calls(listener, failing);
  int status;
  if (waitpid(child, &status, 0) < 0) return 2;
  return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
}
