// SPDX-License-Identifier: Apache-2.0
// Merges the outputs of several hosts: complete lines as they arrive, or one output after another.
#ifndef RD_GATHER_H
#define RD_GATHER_H

#define RD_GATHER_NAME "rdgather"

// Runs `rdgather lines|concat INPUTS [LABEL...]`: its inputs are descriptors 3, 4, … (see docs/protocol/gathering.md).
// Returns the exit status.
int rd_gather_main(int argc, char **argv);

#endif
