// SPDX-License-Identifier: Apache-2.0
// rdstage, the agent of one host: two processes, each of which ends the run if the other dies.
#include "base/cleanup.h"
#include "base/descriptor_limit.h"
#include "base/program_paths.h"
#include "base/spawn.h"
#include "host/program_offer.h"
#include "host/program_sums.h"
#include "process/die_after_parent.h"
#include "process/die_with_parent.h"
#include "process/orphans.h"
#include "protocol/agent_options.h"
#include "protocol/hello.h"
#include "run/guardian.h"
#include "run/supervisor.h"
#include "sandbox/hardening.h"

#include <fcntl.h>
#include <limits.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <unistd.h>

#define STATUS_USAGE 2
// A session whose network is gone may stay open for hours.
#define OFFER_IDLE_MS (5 * 60 * 1000)

static int agent(const struct rd_agent_options *options);
static bool has_right_programs(const struct rd_agent_options *options);
static int guard(const struct rd_agent_options *options, pid_t supervisor, int guard_fd);
static int die_with_parent(const struct rd_agent_options *options);
static int die_after_parent(const struct rd_agent_options *options);
static int offer(const struct rd_agent_options *options);
static void ignore_terminal_signals(void);
static bool fill_standard_descriptors(void);
static int fail(const struct rd_error *error, int status);

static const char help[] =
    "Usage: rdstage --agent --nonce NONCE [--sums LIST] [--user-stdin FD] [--user-stdout FD]\n"
    "               [--stage-limits CORES,FILES] [--served FD --rights read|write|both [--ports A-B]]\n"
    "       rdstage --die-with-parent COMMAND [ARGUMENT...]\n"
    "       rdstage --die-after-parent PID,MS COMMAND [ARGUMENT...]\n"
    "       rdstage --offer --nonce NONCE [--ports A-B] PROGRAM...\n"
    "\n"
    "rdpipe starts this program on every host; see rdstage(1).\n"
    "\n"
    "  -V, --version   print the version\n"
    "  -h, --help      print this help\n";

int main(int argc, char **argv) {
  struct rd_agent_options options;
  struct rd_error error;
  if (!fill_standard_descriptors()) return EXIT_FAILURE;
  if (!rd_agent_options_parse(argc, argv, &options, &error)) {
    fail(&error, STATUS_USAGE);
    fputs(help, stderr);
    return STATUS_USAGE;
  }
  if (!rd_spawn_protect_descriptors(&error)) return fail(&error, EXIT_FAILURE);
  signal(SIGPIPE, SIG_IGN);
  signal(SIGCHLD, SIG_DFL); // if it was inherited as ignored, no child could be waited for
  switch (options.mode) {
  case RD_OPTIONS_AGENT:
    rd_stage_limits_keep(&options.limits);
    rd_descriptor_limit_raise(); // a hop takes several descriptors, and many hops may end at one host
    return agent(&options);
  case RD_OPTIONS_DIE_WITH_PARENT:
    return die_with_parent(&options);
  case RD_OPTIONS_DIE_AFTER_PARENT:
    return die_after_parent(&options);
  case RD_OPTIONS_OFFER:
    return offer(&options);
  case RD_OPTIONS_VERSION:
    puts("rdstage " RD_VERSION);
    return EXIT_SUCCESS;
  case RD_OPTIONS_HELP:
    fputs(help, stdout);
    return EXIT_SUCCESS;
  }
  return EXIT_FAILURE;
}

static int agent(const struct rd_agent_options *options) {
  struct rd_error error;
  int ends[2];
  rd_harden_process();
  if (!has_right_programs(options)) {
    RD_AUTO_FREE char *line = rd_hello_damaged_line(options->nonce);
    puts(line);
    return EXIT_FAILURE;
  }
  if (!rd_orphans_adopt(&error)) return fail(&error, EXIT_FAILURE);
  if (rd_served_is(&options->served)) prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0);
  if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, ends)) {
    rd_error_set_errno(&error, RD_CODE_INTERNAL, "cannot create a socket pair");
    return fail(&error, EXIT_FAILURE);
  }
  pid_t guardian = getpid();
  pid_t supervisor = fork();
  if (supervisor < 0) {
    rd_error_set_errno(&error, RD_CODE_INTERNAL, "cannot start the supervisor");
    return fail(&error, EXIT_FAILURE);
  }
  rd_cleanup_fd(&ends[supervisor == 0 ? 0 : 1]);
  if (supervisor != 0) return guard(options, supervisor, ends[0]);
  setsid(); // commands get no signals from a terminal
  return rd_supervisor_run(options, guardian, ends[1]);
}

static bool has_right_programs(const struct rd_agent_options *options) {
  char directory[PATH_MAX];
  struct rd_error ignored;
  if (options->sums == NULL) return true;
  return rd_program_paths_directory(directory, sizeof directory, &ignored) &&
         rd_program_sums_hold(directory, options->sums);
}

// The guardian closes every descriptor whose end of file another process may wait for.
static int guard(const struct rd_agent_options *options, pid_t supervisor, int guard_fd) {
  struct rd_error error;
  ignore_terminal_signals();
  if (options->user_stdin >= 0) close(options->user_stdin);
  if (options->user_stdout >= 0) close(options->user_stdout);
  int null_fd = rd_spawn_null_device(&error);
  if (null_fd >= 0) {
    dup2(null_fd, STDIN_FILENO);
    dup2(null_fd, STDOUT_FILENO);
    close(null_fd);
  }
  return rd_guardian_run(supervisor, guard_fd);
}

static int die_with_parent(const struct rd_agent_options *options) {
  struct rd_error error;
  int status;
  if (!rd_die_with_parent_run(options->command, &status, &error)) return fail(&error, 127);
  return status;
}

static int die_after_parent(const struct rd_agent_options *options) {
  struct rd_error error;
  int status;
  if (!rd_die_after_parent_run(&options->die_after_parent, options->command, &status, &error)) return fail(&error, 127);
  return status;
}

static int offer(const struct rd_agent_options *options) {
  struct rd_program_offer offered = {
      .nonce = options->nonce,
      .low_port = options->served.low_port,
      .high_port = options->served.high_port,
      .idle_ms = OFFER_IDLE_MS,
      .files = options->command,
  };
  struct rd_error error;
  return rd_program_offer_run(&offered, &error) ? EXIT_SUCCESS : fail(&error, EXIT_FAILURE);
}

static void ignore_terminal_signals(void) {
  static const int signals[] = {SIGINT, SIGQUIT, SIGTSTP, SIGTTIN, SIGTTOU};
  for (size_t i = 0; i < sizeof signals / sizeof *signals; i++) signal(signals[i], SIG_IGN);
}

// Opens 0, 1 and 2 if they are closed; otherwise a later open() would return them.
static bool fill_standard_descriptors(void) {
  for (;;) {
    int fd = open("/dev/null", O_RDWR | O_CLOEXEC);
    if (fd < 0) return false;
    if (fd <= STDERR_FILENO) continue;
    close(fd);
    return true;
  }
}

static int fail(const struct rd_error *error, int status) {
  fprintf(stderr, "rdstage: %s\n", error->message);
  return status;
}
