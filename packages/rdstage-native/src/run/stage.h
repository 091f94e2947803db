// SPDX-License-Identifier: Apache-2.0
// One command or rdtree: started, waited for, and ended when its reader has gone or the run fails.
#ifndef RD_STAGE_STAGE_H
#define RD_STAGE_STAGE_H

#include "base/usage.h"
#include "process/process_tree.h"
#include "run/agent.h"
#include "run/stderr_relay.h"

// The link that its output goes to.
struct rd_stage_output {
  bool (*is_read)(void *context);
  // The stage has ended. `well`: its reader may see the end of file.
  void (*ended)(void *context, bool well, int status);
  void *context;
};

// Callbacks to its segment.
struct rd_stage_handler {
  void (*changed)(void *context); // the process or its standard error has ended
  void *context;
};

struct rd_stage {
  struct rd_agent *agent;
  const struct rd_stage_spec *spec;
  bool lenient;
  struct rd_stage_handler handler;
  struct rd_stage_output output; // set before it is started
  enum { RD_STAGE_WAITING, RD_STAGE_RUNNING, RD_STAGE_ENDED } state;
  pid_t pid; // while it runs
  struct rd_stderr_relay *relay;
  bool stopped;         // by us
  bool consumer_closed; // its reader has gone
  unsigned nudges;      // signals sent for that
  struct rd_timer nudge, kill_again;
  struct rd_process_tree_sweep sweep;
};

struct rd_stage *rd_stage_create(struct rd_agent *agent, const struct rd_stage_spec *spec, bool lenient,
                                 const struct rd_stage_handler *handler);
void rd_stage_destroy(struct rd_stage *stage); // NULL-safe

// Starts it on these descriptors (borrowed) and emits `started`; or `failed`, and it has ended.
// `inputs`: of a stage with several inputs, their descriptors; else they are not looked at.
bool rd_stage_start(struct rd_stage *stage, int in_fd, int out_fd, const int *inputs);
// Its process was reaped: emits `exited` and informs its output.
void rd_stage_reaped(struct rd_stage *stage, int status, const struct rd_usage *usage);
// Its reader has gone: begins to end it, with SIGPIPE and SIGTERM before SIGKILL.
void rd_stage_consumer_gone(struct rd_stage *stage);
// Kills it and everything it started; the caller holds its input open.
void rd_stage_stop(struct rd_stage *stage);
// For a stage that was ended because its reader had gone, after its process was reaped: kills the rest of its group.
// Processes that may not be killed are reported by `left_behind`.
void rd_stage_kill_remaining(const struct rd_stage *stage);
// Marks its end as caused by us, unless it had ended before.
void rd_stage_mark_stopped(struct rd_stage *stage);

#endif
