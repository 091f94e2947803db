// SPDX-License-Identifier: Apache-2.0
// What rdsend and rdrecv give up before they talk to a peer, as far as the kernel can take it (docs/adr/0012).
#ifndef RD_SANDBOX_SANDBOX_H
#define RD_SANDBOX_SANDBOX_H

#include "sandbox/landlock.h"
#include "sandbox/syscall_filter.h"

// A sanitizer makes calls of its own, and LeakSanitizer looks at the program's threads by ptrace from a process that it
// starts. gcov writes its counts where the program may not (scripts/coverage.ts).
#if defined __SANITIZE_ADDRESS__ || defined __SANITIZE_THREAD__ || defined RD_WITHOUT_SANDBOX
#define RD_SANDBOX_IS_POSSIBLE false
#elif defined __has_feature
#define RD_SANDBOX_IS_POSSIBLE !(__has_feature(address_sanitizer) || __has_feature(thread_sanitizer))
#else
#define RD_SANDBOX_IS_POSSIBLE true
#endif

// `profile`: what this process may still need; its RDMA is given up where the host has no device. Before any thread,
// after every fork: from here on nothing is started.
void rd_sandbox_enter(const struct rd_syscall_profile *profile);

// The source or the sink is open, by its path or not (NULL): see landlock.h for what is left. Without effect before
// rd_sandbox_enter(), as in a suite, and the second time.
void rd_sandbox_close(const char *path, int directory_fd);

#endif
