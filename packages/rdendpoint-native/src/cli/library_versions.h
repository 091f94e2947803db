// SPDX-License-Identifier: Apache-2.0
// The versions of the libraries that this program uses, for --version -v.
#ifndef RD_CLI_LIBRARY_VERSIONS_H
#define RD_CLI_LIBRARY_VERSIONS_H

#include <stdio.h>

// Prints a line for each library: its name, its version, and whether it is linked into the program; then whether RDMA
// can be used here. Output errors can be found with ferror(out).
void rd_library_versions_print(FILE *out);

#endif
