// SPDX-License-Identifier: Apache-2.0
// The end of a run that did not end by itself. In this order: everything stands still, rdsends say ABORT, commands die
// while their inputs are open, rdrecvs close, and whatever is left dies too.
#ifndef RD_STAGE_RUN_SHUTDOWN_H
#define RD_STAGE_RUN_SHUTDOWN_H

#include "process_tree.h"
#include "segment.h"

enum shutdown_phase {
  SHUTDOWN_NOT,
  SHUTDOWN_SENDERS,
  SHUTDOWN_COMMANDS,
  SHUTDOWN_RECEIVERS,
  SHUTDOWN_REST,
  SHUTDOWN_DONE
};

struct run_shutdown {
  struct agent *agent;
  struct segment *segment; // NULL: none
  enum shutdown_phase phase;
  int64_t began_ms, phase_began_ms;
  struct tree_sweep sweep;
  struct timer again;
  void (*done)(void *context);
  void *context;
};

// Zeros at first. `segment` is borrowed until `done`, which is called once, after 8 s at the latest; what is still
// there then was told as left behind. A second call does nothing.
void run_shutdown_begin(struct run_shutdown *shutdown_state, struct agent *agent, struct segment *segment,
                        const char *reason, void (*done)(void *context), void *context);
// Something has ended: there may be less to wait for.
void run_shutdown_look(struct run_shutdown *shutdown_state);

#endif
