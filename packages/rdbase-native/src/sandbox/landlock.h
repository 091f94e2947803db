// SPDX-License-Identifier: Apache-2.0
// Restricts file access by Landlock, irrevocably, for this thread and the threads that it starts.
// If the kernel has no Landlock, or has it turned off, nothing changes.
#ifndef RD_SANDBOX_LANDLOCK_H
#define RD_SANDBOX_LANDLOCK_H

#include <stdbool.h>
#include <stddef.h>

struct rd_landlock {
  const char *path;      // of the source or sink, which may be a fifo that is opened later; NULL: none
  int directory_fd;      // of the sink: files in it may be created, written, renamed and removed; -1: none
  bool rdma;             // RDMA devices may be used
  const int *remove_fds; // directories of which files may be removed
  size_t remove_count;
};

// Forbids to execute programs, to create directories, devices, sockets and links, and to use abstract sockets of other
// processes; with `is_alone` also signals to other processes. False: this kernel has no Landlock.
bool rd_landlock_restrict_process(bool is_alone);

// Forbids to read other files than libraries need, and to write other files. False: this kernel has no Landlock.
bool rd_landlock_restrict_files(const struct rd_landlock *landlock);

enum rd_landlock_tree {
  RD_LANDLOCK_READ,
  RD_LANDLOCK_REMOVE, // files too
  RD_LANDLOCK_CHANGE, // all but to make devices and sockets
};

// For a copy: forbids to use files outside these directories, but those that name users and groups, and temporary ones.
// False: this kernel has no Landlock.
bool rd_landlock_restrict_trees(const int *directory_fds, size_t count, enum rd_landlock_tree use);

#endif
