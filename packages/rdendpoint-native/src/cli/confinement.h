// SPDX-License-Identifier: Apache-2.0
// Gives up the rights that rdsend or rdrecv does not need, before it talks to a peer.
#ifndef RD_CLI_CONFINEMENT_H
#define RD_CLI_CONFINEMENT_H

#include "cli/options.h"

#include <sys/types.h>

// `command`: the process group of the command that is the source or sink; 0: none. Call after every fork and before
// other threads are started.
void rd_program_confine(const struct rd_options *options, pid_t command);

#endif
