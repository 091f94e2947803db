// SPDX-License-Identifier: Apache-2.0
// Passes a command to a process that has rdpipe's program loaded (cli/standby.ts).
// Node needs longer to start than most commands run. This process keeps the input, output, terminal and signals.
#ifndef RD_SSH_STANDBY_H
#define RD_SSH_STANDBY_H

#include <stdbool.h>

// `words` are rdpipe's arguments, NULL at the end. `has_input`: false if the command must get no input. Returns false
// if there is no such process or it declines; nothing was done then. Otherwise returns true when the command has ended,
// with the exit status of rdssh. Takes the user's signals meanwhile; a second one ends this process.
bool rd_standby_run(char *const *words, bool has_input, int *status);

#endif
