// SPDX-License-Identifier: Apache-2.0
// The receiving end of a hop: rdrecv without --serve.
#ifndef RD_RDRECV_H
#define RD_RDRECV_H

// `argv[0]` is the name of the program. Returns the exit status, or does not return if a signal ends the process.
// Prints its own failures.
int rd_recv_main(int argc, char **argv);

#endif
