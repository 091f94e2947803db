// SPDX-License-Identifier: Apache-2.0
// The system calls of rdsend and rdrecv, as a seccomp filter: what they make use of is allowed, what only somebody
// else's code would call ends the program, and anything else answers as on a kernel that does not have it
// (docs/adr/0012).
#ifndef RD_SANDBOX_SYSCALL_FILTER_H
#define RD_SANDBOX_SYSCALL_FILTER_H

#include <stdbool.h>
#include <sys/types.h>

struct rd_syscall_profile {
  bool rdma;   // what the libraries of RDMA ask of a device, too
  bool kills;  // SIGKILL to what the agent will name as the consumer
  pid_t group; // > 0: led by our command, it may be sent signals
};

// For all threads, for good. False: this kernel, or this processor, has no filters.
bool rd_syscall_filter_install(const struct rd_syscall_profile *profile);

#endif
