// SPDX-License-Identifier: Apache-2.0
// The descendants of a process, read from /proc.
#ifndef RD_STAGE_PROCESS_LIST_H
#define RD_STAGE_PROCESS_LIST_H

#include "base/error.h"

#include <stddef.h>
#include <sys/types.h>

struct rd_process {
  pid_t pid, parent, group;
  char state;                 // as in /proc/PID/stat: 'Z' is dead, 'T' is stopped
  unsigned long long started; // clock ticks since boot; pid and start time together identify a process
};

struct rd_process_list {
  struct rd_process *items; // sorted by pid
  size_t count;
};

// Lists every living process below `root`, without `root`. Free with rd_process_list_clear().
bool rd_process_list_below(pid_t root, struct rd_process_list *list, struct rd_error *error);
// Lists `leader`, its process group (whose members may have lost their parents), and everything below them.
bool rd_process_list_group(pid_t leader, struct rd_process_list *list, struct rd_error *error);
void rd_process_list_clear(struct rd_process_list *list);

// Signals this process, but not another one that has got its pid since it was listed. Returns 0, or the errno: ESRCH,
// EPERM.
int rd_process_signal(const struct rd_process *process, int number);

// Returns true if the process has another effective user than this process, and this process is not root. sudo is such
// a process; it forwards TERM, but not KILL.
bool rd_process_is_foreign(pid_t pid);

// Stores the command line, arguments joined by spaces, safe to print; if it is empty, the name of the process.
void rd_process_command(pid_t pid, char *text, size_t text_bytes);

#endif
