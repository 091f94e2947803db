// SPDX-License-Identifier: Apache-2.0
// The versions of the libraries that this program runs with, for --version -v.
#ifndef RD_CLI_LIBRARY_VERSIONS_H
#define RD_CLI_LIBRARY_VERSIONS_H

#include <stdio.h>

// A line for each library: its name, its version, and whether it is part of the program; and one that says whether
// RDMA can be used here. Errors are those of `out`.
void rd_library_versions_print(FILE *out);

#endif
