// SPDX-License-Identifier: Apache-2.0
// The state that the parts of a supervisor share.
#ifndef RD_STAGE_AGENT_H
#define RD_STAGE_AGENT_H

#include "process/stage_limits.h"
#include "protocol/control_line.h"
#include "protocol/served.h"
#include "runtime/loop.h"

#include <stdint.h>

struct rd_agent {
  struct rd_loop *loop;
  struct rd_control_line *control;
  int guard_fd;
  uint32_t last_hold; // the last number given to a write end that the guardian also holds
  int null_fd;
  int user_stdin, user_stdout;   // -1: not on this host
  struct rd_stage_limits limits; // of commands
  struct rd_served served;
  bool suspended;
};

#endif
