// SPDX-License-Identifier: Apache-2.0
// The sandbox that rdsend and rdrecv enter before they talk to a peer (docs/adr/0012).
#ifndef RD_SANDBOX_SANDBOX_H
#define RD_SANDBOX_SANDBOX_H

#include "sandbox/landlock.h"
#include "sandbox/syscall_filter.h"

// No sandbox under sanitizers: they make system calls of their own, and LeakSanitizer starts a process that inspects
// the threads with ptrace. Nor under gcov, which writes its counts to files that the program may not write
// (scripts/coverage.ts).
#if defined __SANITIZE_ADDRESS__ || defined __SANITIZE_THREAD__ || defined RD_WITHOUT_SANDBOX
#define RD_SANDBOX_IS_POSSIBLE false
#elif defined __has_feature
#define RD_SANDBOX_IS_POSSIBLE !(__has_feature(address_sanitizer) || __has_feature(thread_sanitizer))
#else
#define RD_SANDBOX_IS_POSSIBLE true
#endif

// Call after every fork and before the first thread: from here on no program can be started. `profile` describes what
// this process still needs; RDMA is removed from it if the host has no device. `ports`: NULL: any.
void rd_sandbox_enter(const struct rd_syscall_profile *profile, const struct rd_landlock_ports *ports);

// Call when the source or sink is open; `path` is NULL if it is an inherited descriptor. From here on only the files
// listed in landlock.h can be used. Does nothing before rd_sandbox_enter(), as in a test suite, or when called again.
void rd_sandbox_close(const char *path, int directory_fd);

// For a program that uses only descriptors that are open: both of the above, without files and ports.
void rd_sandbox_enter_closed(void);

#endif
