// SPDX-License-Identifier: Apache-2.0
#include "serve/agent_process.h"

#include "base/program_paths.h"
#include "base/spawn.h"

#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

static void prepare(const void *start);

pid_t rd_agent_process_start(const struct rd_agent_start *start, struct rd_error *error) {
  const struct rd_serve_options *options = start->options;
  char path[PATH_MAX], program[] = "rdstage", agent[] = "--agent", nonce[] = "--nonce", serve[] = "serve",
                       served[] = "--served";
  char directory[] = "3", rights[] = "--rights", ports[] = "--ports", rights_name[8], range[16];
  if (!rd_program_paths_find("rdstage", path, sizeof path, error)) return -1;
  snprintf(rights_name, sizeof rights_name, "%s", rd_rights_name(start->place->rights));
  snprintf(range, sizeof range, "%u-%u", options->low_port, options->high_port);
  bool has_ports = options->low_port > 0;
  char *arguments[] = {program, agent, nonce, serve, served, directory, rights, rights_name, has_ports ? ports : NULL,
                       range,   NULL};
  struct rd_spawning spawning = {.file = path,
                                 .arguments = arguments,
                                 .fds = {start->stream_fd, start->stream_fd, STDERR_FILENO, start->place->directory_fd},
                                 .fd_count = 4,
                                 .before_exec = prepare,
                                 .context = start};
  return rd_spawn(&spawning, error);
}

// The server has one thread, so setenv() is safe here.
static void prepare(const void *start) {
  setsid(); // signals for the server's group are not meant for its sessions
  setenv("SSH_CONNECTION", ((const struct rd_agent_start *)start)->ssh_connection, 1);
}
