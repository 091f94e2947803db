// SPDX-License-Identifier: Apache-2.0
// The end of a run that did not end by itself. In this order: everything stands still, rdsends say ABORT, commands die
// while their inputs are open, rdrecvs close, and whatever is left dies too.
#ifndef RD_STAGE_ENDING_H
#define RD_STAGE_ENDING_H

#include "process_tree.h"
#include "segment.h"

enum ending_phase { ENDING_NOT, ENDING_SENDERS, ENDING_COMMANDS, ENDING_RECEIVERS, ENDING_REST, ENDING_DONE };

struct ending {
  struct agent *agent;
  struct segment *segment; // NULL: none
  enum ending_phase phase;
  int64_t began_ms, phase_began_ms;
  struct tree_sweep sweep;
  struct timer again;
  void (*done)(void *context);
  void *context;
};

// Zeros at first. `segment` is borrowed until `done`, which is called once, after 8 s at the latest; what is still
// there then was told as left behind. A second call does nothing.
void ending_begin(struct ending *ending, struct agent *agent, struct segment *segment, const char *reason,
                  void (*done)(void *context), void *context);
// Something has ended: there may be less to wait for.
void ending_look(struct ending *ending);

#endif
