// SPDX-License-Identifier: Apache-2.0
// One stage with a process: starts it, waits for it, ends it if its reader has gone or the run fails.
#ifndef RD_STAGE_STAGE_H
#define RD_STAGE_STAGE_H

#include "base/usage.h"
#include "process/process_tree.h"
#include "ring/shared_ring.h"
#include "run/agent.h"
#include "run/stderr_relay.h"

// The link that receives the stage's output.
struct rd_stage_output {
  bool (*is_read)(void *context);
  // The stage has ended. `well`: the reader of its output may see the end of file.
  void (*ended)(void *context, bool well, int status);
  void *context;
};

// Callbacks to the segment.
struct rd_stage_handler {
  void (*changed)(void *context); // the process or its standard error has ended
  void *context;
};

// The descriptors of a stage, borrowed.
struct rd_stage_fds {
  int in, out;
  const int *inputs;       // of a stage with several inputs; otherwise ignored
  struct rd_ring_fds ring; // of a program of a copy, for the contents of files
};

struct rd_stage {
  struct rd_agent *agent;
  const struct rd_stage_spec *spec;
  bool lenient;
  struct rd_stage_handler handler;
  struct rd_stage_output output; // set before the stage is started
  enum { RD_STAGE_WAITING, RD_STAGE_RUNNING, RD_STAGE_ENDED } state;
  pid_t pid; // while the stage runs
  struct rd_stderr_relay *relay;
  bool stopped;         // by the supervisor
  bool consumer_closed; // the reader of the output has gone
  unsigned nudges;      // signals sent since then
  struct rd_timer nudge, kill_again;
  struct rd_process_tree_sweep sweep;
};

// Borrows all arguments but `handler`, which is copied. Never NULL.
struct rd_stage *rd_stage_create(struct rd_agent *agent, const struct rd_stage_spec *spec, bool lenient,
                                 const struct rd_stage_handler *handler);
void rd_stage_destroy(struct rd_stage *stage); // NULL-safe

// Starts the stage and emits `started`. Returns false on failure: then emits `failed`, and the stage has ended.
bool rd_stage_start(struct rd_stage *stage, const struct rd_stage_fds *fds);
// The process was reaped: emits `exited` and informs the output.
void rd_stage_reaped(struct rd_stage *stage, int status, const struct rd_usage *usage);
// The reader has gone: begins to end the stage, with SIGPIPE and SIGTERM before SIGKILL.
void rd_stage_consumer_gone(struct rd_stage *stage);
// Kills the process and everything it started. The caller holds the stage's input open.
void rd_stage_stop(struct rd_stage *stage);
// Kills the rest of the process group of a stage that was ended because its reader had gone. Call it after the process
// was reaped. Processes that may not be killed are reported by `left_behind`.
void rd_stage_kill_remaining(const struct rd_stage *stage);
// Marks the stage as stopped by the supervisor, unless it had ended before.
void rd_stage_mark_stopped(struct rd_stage *stage);

#endif
