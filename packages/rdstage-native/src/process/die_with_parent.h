// SPDX-License-Identifier: Apache-2.0
// A command that ends with the process that started us; rdpipe runs its ssh masters under it.
#ifndef RD_STAGE_DIE_WITH_PARENT_H
#define RD_STAGE_DIE_WITH_PARENT_H

#include "base/error.h"

// Runs the command (argv, NULL at the end) in a session of its own, with an empty standard input. When our standard
// input ends, or SIGTERM, SIGINT or SIGHUP arrives, the command and everything it started is killed. Processes that it
// leaves behind when it ends are killed too. *status becomes its exit status as a shell reports it. False when it could
// not be started.
bool rd_die_with_parent_run(char **command, int *status, struct rd_error *error);

#endif
