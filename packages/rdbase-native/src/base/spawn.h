// SPDX-License-Identifier: Apache-2.0
// The start of a process, with its descriptors, signals and group.
#ifndef RD_BASE_SPAWN_H
#define RD_BASE_SPAWN_H

#include "base/error.h"

#include <stddef.h>
#include <sys/types.h>

#define RD_SPAWN_MAX_FDS 7u

enum rd_spawn_group {
  RD_SPAWN_GROUP_OURS,
  RD_SPAWN_GROUP_OWN,     // a process group of its own
  RD_SPAWN_GROUP_SESSION, // a session of its own, and SIGKILL when the thread that started it ends
};

struct rd_spawning {
  const char *file;          // a path, or a name looked up in PATH
  char *const *arguments;    // argv, NULL at the end
  int fds[RD_SPAWN_MAX_FDS]; // the child's descriptors 0, 1, 2, …; all others are closed
  size_t fd_count;
  const int *more_fds; // the descriptors after those
  size_t more_count;
  enum rd_spawn_group group;
  void (*before_exec)(const void *context); // in the child, last; makes calls only that are safe there; NULL: none
  const void *context;
};

// Starts it with default signals, an empty mask, and this process's environment and directory. Returns its pid, or -1
// (RD_CODE_INTERNAL) when it could not be started or executed; then no process is left.
pid_t rd_spawn(const struct rd_spawning *spawning, struct rd_error *error);

// True for a child of ours that has ended and was not waited for yet.
bool rd_spawn_is_dead(pid_t pid);

// Blocks SIGCHLD, SIGTERM, SIGINT and SIGHUP, and returns a descriptor from which they are read, close-on-exec and
// non-blocking, or -1.
int rd_spawn_signals(struct rd_error *error);

// Marks every descriptor above 2 close-on-exec: inherited ones must not reach a command. Call once, early.
bool rd_spawn_protect_descriptors(struct rd_error *error);

// A null-device descriptor, close-on-exec, or -1.
int rd_spawn_null_device(struct rd_error *error);

#endif
