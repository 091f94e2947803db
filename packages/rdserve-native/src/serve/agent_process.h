// SPDX-License-Identifier: Apache-2.0
// Starts the agent of a session, which serves one directory.
#ifndef RD_SERVE_AGENT_PROCESS_H
#define RD_SERVE_AGENT_PROCESS_H

#include "serve/clients.h"

#include <sys/types.h>

struct rd_agent_start {
  const struct rd_serve_options *options;
  const struct rd_client_grant *place;
  int stream_fd;              // the agent's standard input and output
  const char *ssh_connection; // as sshd sets it: the client's address and port, then the server's
};

// Returns the pid, which leads a session of its own, or -1 (RD_CODE_INTERNAL) if the agent cannot be started.
pid_t rd_agent_process_start(const struct rd_agent_start *start, struct rd_error *error);

#endif
