// SPDX-License-Identifier: Apache-2.0
// The processes below another one, read from /proc.
#ifndef RD_STAGE_PROCESS_LIST_H
#define RD_STAGE_PROCESS_LIST_H

#include "base/error.h"

#include <stddef.h>
#include <sys/types.h>

struct rd_process {
  pid_t pid, parent, group;
  char state;                 // as in /proc/PID/stat: 'Z' is dead, 'T' is stopped
  unsigned long long started; // clock ticks after the boot; pid and start together identify a process
};

struct rd_process_list {
  struct rd_process *items; // by pid
  size_t count;
};

// Every living process below `root`, without it. Free with rd_process_list_clear().
bool rd_process_list_below(pid_t root, struct rd_process_list *list, struct rd_error *error);
// `leader`, its process group (whose members may have lost their parents), and everything below these.
bool rd_process_list_group(pid_t leader, struct rd_process_list *list, struct rd_error *error);
void rd_process_list_clear(struct rd_process_list *list);

// Signals this process, and no other that has got its pid since it was listed. 0, or the errno: ESRCH, EPERM.
int rd_process_signal(const struct rd_process *process, int number);

// It runs with another effective user than ours, and we are not root: a sudo forwards TERM, but not KILL.
bool rd_process_is_foreign(pid_t pid);

// Its command line, arguments joined by spaces, safe to print; its name where that is empty.
void rd_process_command(pid_t pid, char *text, size_t text_bytes);

#endif
