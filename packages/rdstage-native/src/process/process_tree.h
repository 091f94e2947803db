// SPDX-License-Identifier: Apache-2.0
// Ends a complete tree of processes.
// Everything is stopped before anything is killed, so that no process sees an end of file caused by the death of
// another.
#ifndef RD_STAGE_PROCESS_TREE_H
#define RD_STAGE_PROCESS_TREE_H

#include "process/process_list.h"

#include <stdint.h>

#define RD_TREE_EXCLUDED_MAX 1024u
#define RD_TREE_CLEANERS_MAX 16u

// The state of ending one tree. The caller sets `root`, `is_group`, `excluded` and `cleaners` and zeroes the rest; only
// rd_process_tree_sweep() changes it after that.
struct rd_process_tree_sweep {
  pid_t root;
  bool is_group; // end the processes of rd_process_list_group(), otherwise those of rd_process_list_below()
  pid_t excluded[RD_TREE_EXCLUDED_MAX];
  size_t excluded_count;
  pid_t cleaners[RD_TREE_CLEANERS_MAX]; // processes that finish or remove their files on TERM
  size_t cleaner_count;
  int64_t began_ms;
  pid_t asked[64]; // other users' processes and cleaners that were sent TERM
  size_t asked_count;
  size_t refused; // processes of the last pass that may not be killed
};

// Returns true if, after a pass that found `left` processes, no process that may be killed is left.
bool rd_process_tree_sweep_is_over(const struct rd_process_tree_sweep *sweep, ssize_t left);

// Makes one pass: SIGSTOP to all, then SIGKILL to all. Cleaners and other users' processes (rd_process_is_foreign())
// get TERM, and KILL 3 s after the first pass. Returns the number of processes found, or -1 if /proc cannot be read.
ssize_t rd_process_tree_sweep(struct rd_process_tree_sweep *sweep, struct rd_error *error);

// Sends SIGSTOP to every process that rd_process_tree_sweep() would end, until no new process appears.
bool rd_process_tree_freeze(const struct rd_process_tree_sweep *sweep, struct rd_error *error);
// Sends SIGCONT to everything below `root`.
bool rd_process_tree_thaw(pid_t root, struct rd_error *error);

// Blocks: sweeps until no process that may be killed is alive, or until `limit_ms` have passed. Returns true if none is
// alive; the caller still has to wait for its children.
bool rd_process_tree_end(pid_t root, int64_t limit_ms);

#endif
