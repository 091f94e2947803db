// SPDX-License-Identifier: Apache-2.0
// What rdsend and rdrecv have in common but their words.
#ifndef RD_CLI_PROGRAM_H
#define RD_CLI_PROGRAM_H

#include "cli/options.h"

// Runs to the end. Returns the exit status, and does not return where the end is a signal. *error is set (not
// RD_CODE_OK) when it could not even begin.
int rd_program_run(struct rd_options *options, struct rd_error *error);

#endif
