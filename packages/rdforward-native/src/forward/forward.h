// SPDX-License-Identifier: Apache-2.0
// rdforward: carries connections to TCP ports and local sockets to another host, for rdssh's -L and -R.
#ifndef RD_FORWARD_FORWARD_H
#define RD_FORWARD_FORWARD_H

#define RD_FORWARD_NAME "rdforward"

// `argv[0]` is the name of the program. Returns the exit status; prints its own failures.
int rd_forward_main(int argc, char **argv);

#endif
