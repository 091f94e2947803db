// SPDX-License-Identifier: Apache-2.0
// Ending whole trees of processes. Everything is stopped before anything is killed: no process sees the end of file
// that another one's death gives it.
#ifndef RD_STAGE_PROCESS_TREE_H
#define RD_STAGE_PROCESS_TREE_H

#include "process/process_list.h"

#include <stdint.h>

#define RD_TREE_EXCLUDED_MAX 1024u

// One ending of one tree. Zeros, `root` and what is below it at first; then only rd_tree_sweep() changes it.
struct rd_tree_sweep {
  pid_t root;
  bool is_group; // what to end is rd_process_list_group(), else rd_process_list_below()
  pid_t excluded[RD_TREE_EXCLUDED_MAX];
  size_t excluded_count;
  int64_t began_ms;
  pid_t asked[64]; // foreign processes that were sent TERM
  size_t asked_count;
  size_t refused; // in the last pass: processes that may not be killed
};

// Nothing more can be done: after a pass that found `left` processes.
bool rd_tree_sweep_is_over(const struct rd_tree_sweep *sweep, ssize_t left);

// One pass: SIGSTOP to all, then SIGKILL to all; foreign ones get TERM, and KILL 2 s after the first pass. Returns how
// many there were: 0 is the end. -1 when /proc cannot be read.
ssize_t rd_tree_sweep(struct rd_tree_sweep *sweep, struct rd_error *error);

// SIGSTOP to everything that rd_tree_sweep() would end, until nothing new appears.
bool rd_tree_freeze(const struct rd_tree_sweep *sweep, struct rd_error *error);
// SIGCONT to everything below.
bool rd_tree_thaw(pid_t root, struct rd_error *error);

// For a process that has nothing else to do: sweeps until nothing that may be killed lives, or `limit_ms` have
// passed. True when nothing lives; its children are still to be waited for.
bool rd_tree_end(pid_t root, int64_t limit_ms);

#endif
