// SPDX-License-Identifier: Apache-2.0
// Runs a command with the standard streams of this process; ends it some time after rdpipe has ended.
#ifndef RD_STAGE_DIE_AFTER_PARENT_H
#define RD_STAGE_DIE_AFTER_PARENT_H

#include "base/error.h"

#include <stdint.h>
#include <sys/types.h>

struct rd_die_after_parent {
  pid_t parent;     // the process that started this one: it may have ended before this one could look
  int64_t grace_ms; // for the command to end by itself, because its input has ended
};

// Parses `PID,MS`. Returns false if it is anything else.
bool rd_die_after_parent_parse(const char *text, struct rd_die_after_parent *settings);

// Runs the command (argv, NULL at the end). SIGTERM and SIGINT are passed to it as SIGTERM. Once the parent has ended
// and `grace_ms` are over, the command gets SIGTERM; after as long again, its process group is killed. *status becomes
// its exit status; if a signal ended the command, the same signal ends this process. Returns false if the command could
// not be started.
bool rd_die_after_parent_run(const struct rd_die_after_parent *settings, char **command, int *status,
                             struct rd_error *error);

#endif
