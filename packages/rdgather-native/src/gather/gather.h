// SPDX-License-Identifier: Apache-2.0
// Merges the outputs of several hosts: by lines, one after another, or equal ones once.
#ifndef RD_GATHER_H
#define RD_GATHER_H

#define RD_GATHER_NAME "rdgather"

// Runs `rdgather lines|concat|fold INPUTS [LABEL...]`: its inputs are descriptors 3, 4, … (see
// docs/protocol/gathering.md). Returns the exit status: 125 if it failed itself.
int rd_gather_main(int argc, char **argv);

#endif
