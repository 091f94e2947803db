// SPDX-License-Identifier: Apache-2.0
// The receiving end of a hop: rdrecv, but for --serve.
#ifndef RD_RDRECV_H
#define RD_RDRECV_H

// `argv[0]` is its name. Returns the exit status, or does not return if it ends by a signal. Prints its failures.
int rd_recv_main(int argc, char **argv);

#endif
