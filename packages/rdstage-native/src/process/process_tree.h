// SPDX-License-Identifier: Apache-2.0
// The end of a whole tree of processes.
// Everything is stopped before anything is killed: no process sees the end of file that another one's death causes.
#ifndef RD_STAGE_PROCESS_TREE_H
#define RD_STAGE_PROCESS_TREE_H

#include "process/process_list.h"

#include <stdint.h>

#define RD_TREE_EXCLUDED_MAX 1024u
#define RD_TREE_CLEANERS_MAX 16u

// The state of ending one tree. The caller sets `root`, `is_group`, `excluded` and `cleaners`, the rest is zero at
// first; then only rd_process_tree_sweep() changes it.
struct rd_process_tree_sweep {
  pid_t root;
  bool is_group; // end the processes of rd_process_list_group(), else those of rd_process_list_below()
  pid_t excluded[RD_TREE_EXCLUDED_MAX];
  size_t excluded_count;
  pid_t cleaners[RD_TREE_CLEANERS_MAX]; // that remove their temporary files when they get TERM
  size_t cleaner_count;
  int64_t began_ms;
  pid_t asked[64]; // foreign processes and cleaners that were sent TERM
  size_t asked_count;
  size_t refused; // processes of the last pass that may not be killed
};

// After a pass that found `left` processes: none is left that may be killed.
bool rd_process_tree_sweep_is_over(const struct rd_process_tree_sweep *sweep, ssize_t left);

// One pass: SIGSTOP to all, then SIGKILL to all; foreign ones and cleaners get TERM, and KILL 2 s after the first pass.
// Returns the number of processes found, or -1 when /proc cannot be read.
ssize_t rd_process_tree_sweep(struct rd_process_tree_sweep *sweep, struct rd_error *error);

// Sends SIGSTOP to everything that rd_process_tree_sweep() would end, until nothing new appears.
bool rd_process_tree_freeze(const struct rd_process_tree_sweep *sweep, struct rd_error *error);
// Sends SIGCONT to everything below `root`.
bool rd_tree_thaw(pid_t root, struct rd_error *error);

// Blocks: sweeps until no process that may be killed is alive, or `limit_ms` have passed. True when none is alive; the
// caller still has to wait for its children.
bool rd_process_tree_end(pid_t root, int64_t limit_ms);

#endif
