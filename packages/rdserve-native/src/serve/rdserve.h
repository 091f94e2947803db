// SPDX-License-Identifier: Apache-2.0
// The main function of rdrecv --serve.
#ifndef RD_SERVE_RDSERVE_H
#define RD_SERVE_RDSERVE_H

// `argv[0]` is the name of the program. Returns the exit status, and prints its own failures.
int rd_serve_main(int argc, char **argv);

#endif
