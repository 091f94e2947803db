// SPDX-License-Identifier: Apache-2.0
// The outputs of several hosts become one: whole lines as they come, or one after another.
#ifndef RD_GATHER_H
#define RD_GATHER_H

#define RD_GATHER_NAME "rdgather"

// Runs `rdgather lines|concat INPUTS [LABEL...]`: its inputs are descriptors 3, 4, … (docs/protocol.md, section 8).
// Returns the exit status.
int rd_gather_main(int argc, char **argv);

#endif
