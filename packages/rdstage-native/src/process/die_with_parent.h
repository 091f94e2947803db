// SPDX-License-Identifier: Apache-2.0
// A command that must not outlive whoever started us: rdpipe keeps its ssh connections so.
#ifndef RD_STAGE_DIE_WITH_PARENT_H
#define RD_STAGE_DIE_WITH_PARENT_H

#include "base/error.h"

// Runs the command (argv, NULL at the end) in a session of its own, with an empty standard input. When ours ends, or
// we are told to end by a signal, the command and everything it started is killed. Whatever is left of it when it ends
// is killed too. *status becomes what a shell would call its exit status. False when it could not be started.
bool rd_die_with_parent_run(char **command, int *status, struct rd_error *error);

#endif
