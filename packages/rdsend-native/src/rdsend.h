// SPDX-License-Identifier: Apache-2.0
// The sending end of a hop: rdsend.
#ifndef RD_RDSEND_H
#define RD_RDSEND_H

// `argv[0]` is the name of the program. Returns the exit status, or does not return if a signal ends the process.
// Prints its own failures.
int rd_send_main(int argc, char **argv);

#endif
