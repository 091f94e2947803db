// SPDX-License-Identifier: Apache-2.0
#include "serve/agent_process.h"

#include "base/cleanup.h"
#include "base/io.h"
#include "base/programs.h"

#include <fcntl.h>
#include <limits.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#define DIRECTORY_FD 3
#define REPORT_FD 4 // closed by exec: then it runs
#define FIRST_FREE_FD 10

static _Noreturn void execute(const struct rd_agent_start *start, char *path, int report_fd);
static bool place_descriptors(const struct rd_agent_start *start, int report_fd);
static void reset_signals(void);

pid_t rd_agent_process_start(const struct rd_agent_start *start, struct rd_error *error) {
  char path[PATH_MAX];
  int report[2], failure = 0;
  if (!rd_programs_find("rdstage", path, sizeof path, error)) return -1;
  if (pipe2(report, O_CLOEXEC) != 0) {
    rd_error_set_errno(error, RD_CODE_INTERNAL, "cannot start %.300s", path);
    return -1;
  }
  RD_AUTO_CLOSE int report_read = report[0];
  RD_AUTO_CLOSE int report_write = report[1];
  pid_t pid = fork();
  if (pid == 0) execute(start, path, report_write);
  rd_cleanup_fd(&report_write);
  if (pid > 0 && rd_read_some(report_read, &failure, sizeof failure) != (ssize_t)sizeof failure) return pid;
  if (pid > 0) {
    while (waitpid(pid, NULL, 0) < 0 && errno == EINTR) continue;
    errno = failure;
  }
  rd_error_set_errno(error, RD_CODE_INTERNAL, "cannot start %.300s", path);
  return -1;
}

static _Noreturn void execute(const struct rd_agent_start *start, char *path, int report_fd) {
  const struct rd_serve_options *options = start->options;
  char program[] = "rdstage", agent[] = "--agent", nonce[] = "--nonce", serve[] = "serve", served[] = "--served";
  char directory[] = "3", rights[] = "--rights", ports[] = "--ports", rights_name[8], range[16];
  snprintf(rights_name, sizeof rights_name, "%s", rd_serve_rights_name(start->place->rights));
  snprintf(range, sizeof range, "%u-%u", options->low_port, options->high_port);
  bool has_ports = options->low_port > 0;
  char *arguments[] = {program, agent, nonce, serve, served, directory, rights, rights_name, has_ports ? ports : NULL,
                       range,   NULL};
  setsid(); // signals for the server's group are not for its sessions
  setenv("SSH_CONNECTION", start->ssh_connection, 1);
  if (place_descriptors(start, report_fd)) {
    reset_signals();
    execv(path, arguments);
  }
  int failure = errno;
  rd_write_all(fcntl(REPORT_FD, F_GETFD) >= 0 ? REPORT_FD : report_fd, &failure, sizeof failure);
  _exit(127);
}

// Moves them out of the way first: a descriptor may have the number that another one is to get.
static bool place_descriptors(const struct rd_agent_start *start, int report_fd) {
  int stream = fcntl(start->stream_fd, F_DUPFD_CLOEXEC, FIRST_FREE_FD);
  int directory = fcntl(start->place->directory_fd, F_DUPFD_CLOEXEC, FIRST_FREE_FD);
  int report = fcntl(report_fd, F_DUPFD_CLOEXEC, FIRST_FREE_FD);
  if (stream < 0 || directory < 0 || report < 0) return false;
  return dup2(stream, STDIN_FILENO) >= 0 && dup2(stream, STDOUT_FILENO) >= 0 && dup2(directory, DIRECTORY_FD) >= 0 &&
         dup3(report, REPORT_FD, O_CLOEXEC) >= 0;
}

static void reset_signals(void) {
  for (int number = 1; number <= SIGRTMAX; number++)
    if (number != SIGKILL && number != SIGSTOP) signal(number, SIG_DFL);
  sigset_t none;
  sigemptyset(&none);
  sigprocmask(SIG_SETMASK, &none, NULL);
}
