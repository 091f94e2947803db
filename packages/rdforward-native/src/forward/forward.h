// SPDX-License-Identifier: Apache-2.0
// rdforward: carries TCP connections and those of local sockets to another host, for rdssh's -L and -R.
#ifndef RD_FORWARD_FORWARD_H
#define RD_FORWARD_FORWARD_H

#define RD_FORWARD_NAME "rdforward"

// `argv[0]` is its name. Returns the exit status; prints its own failures.
int rd_forward_main(int argc, char **argv);

#endif
