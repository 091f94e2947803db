// SPDX-License-Identifier: Apache-2.0
// The supervisor, child of the agent's two processes: handles requests, runs segments, reaps processes.
#ifndef RD_STAGE_SUPERVISOR_H
#define RD_STAGE_SUPERVISOR_H

#include "protocol/agent_options.h"

#include <sys/types.h>

// Runs until rdpipe sends `finish`, or until everything was ended. `guardian` is the parent, `guard_fd` this process's
// end of the socket between the two. Returns the exit status of the agent: 0 after `finish`.
int rd_supervisor_run(const struct rd_agent_options *options, pid_t guardian, int guard_fd);

#endif
