// SPDX-License-Identifier: Apache-2.0
// The end of a run that did not end by itself. In this order: everything stands still, rdsends say ABORT, commands die
// while their inputs are open, rdrecvs close, and whatever is left dies too.
#ifndef RD_STAGE_RUN_SHUTDOWN_H
#define RD_STAGE_RUN_SHUTDOWN_H

#include "process/process_tree.h"
#include "run/segment.h"

enum rd_shutdown_phase {
  RD_SHUTDOWN_NOT,
  RD_SHUTDOWN_SENDERS,
  RD_SHUTDOWN_COMMANDS,
  RD_SHUTDOWN_RECEIVERS,
  RD_SHUTDOWN_REST,
  RD_SHUTDOWN_DONE
};

struct rd_run_shutdown {
  struct rd_agent *agent;
  struct rd_segment *segment; // NULL: none
  enum rd_shutdown_phase phase;
  int64_t began_ms, phase_began_ms;
  struct rd_tree_sweep sweep;
  struct rd_timer again;
  void (*done)(void *context);
  void *context;
};

// Zeros at first. `segment` is borrowed until `done`, which is called once, after 8 s at the latest; what is still
// there then was told as left behind. A second call does nothing.
void rd_run_shutdown_begin(struct rd_run_shutdown *shutdown_state, struct rd_agent *agent, struct rd_segment *segment,
                           const char *reason, void (*done)(void *context), void *context);
// Something has ended: there may be less to wait for.
void rd_run_shutdown_look(struct rd_run_shutdown *shutdown_state);

#endif
