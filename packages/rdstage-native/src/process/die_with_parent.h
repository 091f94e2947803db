// SPDX-License-Identifier: Apache-2.0
// Runs a command that ends together with rdstage's parent process, such as rdpipe's ssh masters.
#ifndef RD_STAGE_DIE_WITH_PARENT_H
#define RD_STAGE_DIE_WITH_PARENT_H

#include "base/error.h"

// Runs the command (argv, NULL at the end) in a session of its own, with an empty standard input. When this process's
// standard input ends, or SIGTERM, SIGINT or SIGHUP arrives, the command and everything it started are killed.
// For an ssh (no_delay.h): writes the line "no delay" to standard output when small messages on its connection no
// longer wait; a byte of the input ends what makes the login faster. Processes that the command leaves behind when it
// ends are killed as well. *status becomes its exit status as a shell reports it. Returns false if the command could
// not be started.
bool rd_die_with_parent_run(char **command, int *status, struct rd_error *error);

#endif
