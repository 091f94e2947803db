// SPDX-License-Identifier: Apache-2.0
// The upper of the agent's two processes. It does nothing but wait: when the supervisor dies without having said that
// it was finished, or hangs for longer than the lease, everything below is killed while the guardian holds every
// consumer's standard input open.
#ifndef RD_STAGE_GUARDIAN_H
#define RD_STAGE_GUARDIAN_H

#include <sys/types.h>

// Watches over `supervisor` through `guard_fd` (see guard_words.h), which must be this process's only end of it.
// Returns the exit status of the agent: the supervisor's own when it finished. Where a process could not be ended,
// another process stays behind and holds that one's standard input open for as long as it lives.
int rd_guardian_run(pid_t supervisor, int guard_fd);

#endif
