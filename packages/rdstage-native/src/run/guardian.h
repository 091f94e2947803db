// SPDX-License-Identifier: Apache-2.0
// The guardian, parent of the agent's two processes: ends the run if the supervisor dies or hangs.
// If the supervisor dies before it reported that it had finished, or hangs for longer than the lease, everything below
// is killed while the guardian holds every consumer's standard input open.
#ifndef RD_STAGE_GUARDIAN_H
#define RD_STAGE_GUARDIAN_H

#include <sys/types.h>

// Watches `supervisor` through `guard_fd` (see guardian_messages.h), which must be this process's only end of the
// socket. Returns the exit status of the agent: the supervisor's own if it finished. If a process could not be killed,
// a fork of the guardian remains and holds the standard input of that process open for as long as the process lives.
int rd_guardian_run(pid_t supervisor, int guard_fd);

#endif
