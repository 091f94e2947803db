// SPDX-License-Identifier: Apache-2.0
// Restricts file access with Landlock, irrevocably, for this thread and the threads that it starts.
// Does nothing if the kernel has no Landlock, or has it turned off.
#ifndef RD_SANDBOX_LANDLOCK_H
#define RD_SANDBOX_LANDLOCK_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct rd_landlock {
  const char *path;      // of the source or sink; needed if it is a fifo, which may be opened later; NULL: none
  int directory_fd;      // the sink's directory: files in it may be created, written, renamed and removed; -1: none
  bool rdma;             // allows RDMA devices
  const int *remove_fds; // directories from which files may be removed
  size_t remove_count;
};

// Returns the version of this kernel's Landlock; 0: it has none, or it is turned off.
unsigned rd_landlock_version(void);

// Forbids executing programs, creating directories, devices, sockets and links, and connecting to abstract sockets of
// other processes; with `is_alone` also signals to other processes. Returns false if this kernel has no Landlock.
bool rd_landlock_restrict_process(bool is_alone);

// Forbids reading files, except those that libraries need and those of `landlock`, and writing all others. Returns
// false if this kernel has no Landlock.
bool rd_landlock_restrict_files(const struct rd_landlock *landlock);

// TCP ports: those of `low` to `high` may be bound, if `binds`, and those of `connect` connected to.
struct rd_landlock_ports {
  bool binds;
  uint16_t low, high; // low is 0: any free port
  const uint16_t *connect;
  size_t connect_count;
};

// Forbids binding and connecting TCP sockets to other ports. Returns false if this kernel's Landlock is older than
// Linux 6.7. It does not apply to MPTCP and MSG_FASTOPEN, which syscall_filter.c refuses.
bool rd_landlock_restrict_ports(const struct rd_landlock_ports *ports);

enum rd_landlock_tree {
  RD_LANDLOCK_READ,
  RD_LANDLOCK_REMOVE, // also remove files
  RD_LANDLOCK_CHANGE, // everything except creating devices and sockets
};

// For a copy: forbids using files outside these directories, except those that list users and groups, and temporary
// files. Returns false if this kernel has no Landlock.
bool rd_landlock_restrict_trees(const int *directory_fds, size_t count, enum rd_landlock_tree use);

#endif
