// SPDX-License-Identifier: Apache-2.0
// One command: started, waited for, and ended when its reader has gone or the run fails.
#ifndef RD_STAGE_STAGE_H
#define RD_STAGE_STAGE_H

#include "agent.h"
#include "process_tree.h"
#include "stderr_relay.h"
#include "usage.h"

// Where its output goes.
struct stage_output {
  bool (*is_read)(void *context);
  // It has ended. Well: end of file may be seen behind it.
  void (*ended)(void *context, bool well, int status);
  void *context;
};

// What the segment wants to know.
struct stage_handler {
  void (*changed)(void *context); // the process has ended, or its standard error
  void *context;
};

struct stage {
  struct agent *agent;
  const struct stage_spec *spec;
  bool lenient;
  struct stage_handler handler;
  struct stage_output output; // set before it is started
  enum { STAGE_WAITING, STAGE_RUNNING, STAGE_ENDED } state;
  pid_t pid; // while it runs
  struct stderr_relay *relay;
  bool stopped;         // by us
  bool consumer_closed; // its reader has gone
  unsigned nudges;      // signals sent for that
  struct timer nudge, kill_again;
  struct tree_sweep sweep;
};

struct stage *stage_create(struct agent *agent, const struct stage_spec *spec, bool lenient,
                           const struct stage_handler *handler);
void stage_destroy(struct stage *stage); // NULL-safe

// Starts the command on these descriptors (borrowed) and tells so, or why not; then it has ended.
bool stage_start(struct stage *stage, int in_fd, int out_fd);
// Its process was reaped: tells so and tells its output.
void stage_reaped(struct stage *stage, int status, const struct rd_usage *usage);
// Its reader has gone: nothing it could still write will be read. It is ended, gently at first.
void stage_consumer_gone(struct stage *stage);
// Kills it and everything it started; whoever calls holds its input open.
void stage_stop(struct stage *stage);
// Once its process has ended: what else is left in the group of one that had to be ended, because its reader had gone,
// is killed, and told where it may not be.
void stage_end_rest(const struct stage *stage);
// What ends it from now on is our doing, unless it had ended before.
void stage_mark_stopped(struct stage *stage);

#endif
