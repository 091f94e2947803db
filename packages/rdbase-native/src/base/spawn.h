// SPDX-License-Identifier: Apache-2.0
// Starts processes, with their descriptors, signals and process group.
#ifndef RD_BASE_SPAWN_H
#define RD_BASE_SPAWN_H

#include "base/error.h"

#include <stddef.h>
#include <sys/types.h>

#define RD_SPAWN_MAX_FDS 9u

enum rd_spawn_group {
  RD_SPAWN_GROUP_OURS,
  RD_SPAWN_GROUP_OWN,     // its own process group
  RD_SPAWN_GROUP_SESSION, // its own session; SIGKILL when the thread that started it ends
};

struct rd_spawning {
  const char *file;          // a path, or a name looked up in PATH
  char *const *arguments;    // argv, NULL at the end
  int fds[RD_SPAWN_MAX_FDS]; // become the child's descriptors 0, 1, 2, …; all others are closed
  size_t fd_count;
  const int *more_fds; // become the descriptors after those in `fds`
  size_t more_count;
  enum rd_spawn_group group;
  void (*before_exec)(const void *context); // last in the child; only calls that are safe after fork; NULL: none
  const void *context;
};

// Starts a process with default signal handlers, an empty signal mask, and this process's environment and working
// directory. Returns its pid, or -1 (RD_CODE_INTERNAL) if it could not be started or executed; then no process remains.
pid_t rd_spawn(const struct rd_spawning *spawning, struct rd_error *error);

// Returns true for a child of this process that has ended and was not waited for yet.
bool rd_spawn_is_dead(pid_t pid);

// Blocks SIGCHLD, SIGTERM, SIGINT and SIGHUP. Returns a signalfd for them, close-on-exec and non-blocking, or -1.
int rd_spawn_signals(struct rd_error *error);

// Makes every descriptor above 2 close-on-exec, so that a command does not get inherited ones. Call once, early.
bool rd_spawn_protect_descriptors(struct rd_error *error);

// Returns a close-on-exec descriptor of /dev/null, or -1.
int rd_spawn_null_device(struct rd_error *error);

#endif
