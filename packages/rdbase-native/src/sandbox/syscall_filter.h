// SPDX-License-Identifier: Apache-2.0
// The seccomp filter of rdsend, rdrecv, rdtree and rdforward.
// It allows the system calls that they make, ends the program on calls that only an attacker's code would make, and
// answers ENOSYS to all others, as an older kernel does (docs/adr/0012).
#ifndef RD_SANDBOX_SYSCALL_FILTER_H
#define RD_SANDBOX_SYSCALL_FILTER_H

#include <linux/filter.h>
#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>

struct rd_syscall_profile {
  bool rdma;   // the RDMA libraries' ioctls are allowed
  bool kills;  // SIGKILL is allowed, for the consumer that the agent will name
  bool tree;   // files, directories, links, devices and attributes may be made; no socket may
  pid_t group; // > 0: the command's process group, which may be sent signals
  pid_t child; // > 0: one process, likewise
};

// For all threads, irrevocably. False: no seccomp filters on this kernel or processor.
bool rd_syscall_filter_install(const struct rd_syscall_profile *profile);

#define RD_SYSCALL_FILTER_MAX 1024u

// The filter's instructions, in room for RD_SYSCALL_FILTER_MAX of them. Returns their count; so many do not fit.
size_t rd_syscall_filter_write(const struct rd_syscall_profile *profile, struct sock_filter *code);

#endif
