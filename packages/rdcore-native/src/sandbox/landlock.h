// SPDX-License-Identifier: Apache-2.0
// Restricts file access by Landlock, irrevocably, for this thread and the threads that it starts.
// If the kernel has no Landlock, or has it turned off, nothing changes.
#ifndef RD_SANDBOX_LANDLOCK_H
#define RD_SANDBOX_LANDLOCK_H

#include <stdbool.h>

struct rd_landlock {
  const char *path; // of the source or sink, which may be a fifo that is opened later; NULL: none
  int directory_fd; // of the sink: files in it may be created, written, renamed and removed; -1: none
  bool rdma;        // RDMA devices may be used
};

// Forbids to execute programs, to create directories, devices, sockets and links, and to use abstract sockets of other
// processes; with `is_alone` also signals to other processes. False: this kernel has no Landlock.
bool rd_landlock_restrict_process(bool is_alone);

// Forbids to read other files than libraries need, and to write other files. False: this kernel has no Landlock.
bool rd_landlock_restrict_files(const struct rd_landlock *landlock);

// Forbids to use files outside a directory, but those that name users and groups, and temporary ones; with `writes` it
// may be changed, but no device or socket be made in it. For a copy of a server. False: this kernel has no Landlock.
bool rd_landlock_restrict_tree(int directory_fd, bool writes);

#endif
