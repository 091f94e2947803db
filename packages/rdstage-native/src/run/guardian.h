// SPDX-License-Identifier: Apache-2.0
// The upper of the agent's two processes: it ends the run when the supervisor dies or hangs.
// When the supervisor dies before it reported that it had finished, or hangs for longer than the lease, everything
// below
// is killed while the guardian holds every consumer's standard input open.
#ifndef RD_STAGE_GUARDIAN_H
#define RD_STAGE_GUARDIAN_H

#include <sys/types.h>

// Watches `supervisor` through `guard_fd` (see guardian_messages.h), which must be this process's only end of it.
// Returns the exit status of the agent: the supervisor's own when it finished. Where a process could not be ended, a
// fork of this one stays behind and holds that process's standard input open for as long as it lives.
int rd_guardian_run(pid_t supervisor, int guard_fd);

#endif
