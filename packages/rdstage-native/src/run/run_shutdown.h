// SPDX-License-Identifier: Apache-2.0
// The shutdown, in phases, of a run that has not ended on its own.
// Everything is stopped, every rdsend sends ABORT, commands are killed while their inputs are open, every rdrecv
// closes, and the remaining processes are killed.
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
  struct rd_process_tree_sweep sweep;
  struct rd_timer again;
  void (*done)(void *context);
  void *context;
};

// `shutdown_state` must be zeroed. `segment` is borrowed until `done`, which is called once, within 8 s; processes that
// are still alive then were reported by `left_behind`. A second call does nothing.
void rd_run_shutdown_begin(struct rd_run_shutdown *shutdown_state, struct rd_agent *agent, struct rd_segment *segment,
                           const char *reason, void (*done)(void *context), void *context);
// A process has ended: the current phase may be over.
void rd_run_shutdown_proceed(struct rd_run_shutdown *shutdown_state);

#endif
