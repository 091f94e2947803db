// SPDX-License-Identifier: Apache-2.0
// The seccomp filter of rdsend, rdrecv, rdtree and rdforward.
// It allows the system calls that they make, kills the program on calls that only an attacker's code would make, and
// answers ENOSYS to all others, as an older kernel does (docs/adr/0012).
#ifndef RD_SANDBOX_SYSCALL_FILTER_H
#define RD_SANDBOX_SYSCALL_FILTER_H

#include <linux/filter.h>
#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>

// The rights of a program on files; each value includes those before it. Landlock restricts which files, except for
// modes, owners, attributes and times.
enum rd_syscall_files {
  RD_FILES_READ,
  RD_FILES_REMOVE, // also remove names
  RD_FILES_WRITE,  // also rename and link files, and set owner, mode and attributes of open ones
  RD_FILES_TREE,   // also set these by path, set times, and create directories, links and devices
};

struct rd_syscall_profile {
  enum rd_syscall_files files;
  bool rdma;   // allows the RDMA libraries' ioctls
  bool kills;  // allows SIGKILL, for the consumer that the agent will name
  bool tree;   // a program of a copy: no sockets
  bool local;  // allows local sockets
  pid_t group; // > 0: the command's process group, which may be sent signals
  pid_t child; // > 0: one process that may be sent signals
};

// Returns false if this kernel or CPU has no seccomp filters.
bool rd_syscall_filter_is_possible(void);

// Installs the filter for all threads, irrevocably. Returns false if this kernel or CPU has no seccomp filters.
bool rd_syscall_filter_install(const struct rd_syscall_profile *profile);

#define RD_SYSCALL_FILTER_MAX 1024u

// Writes the filter's instructions to `code`, which holds RD_SYSCALL_FILTER_MAX of them, and returns their number;
// RD_SYSCALL_FILTER_MAX means that they did not fit.
size_t rd_syscall_filter_write(const struct rd_syscall_profile *profile, struct sock_filter *code);

#endif
