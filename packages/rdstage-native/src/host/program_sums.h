// SPDX-License-Identifier: Apache-2.0
// Whether the programs beside this one are those that were copied here.
#ifndef RD_STAGE_PROGRAM_SUMS_H
#define RD_STAGE_PROGRAM_SUMS_H

#include <stdbool.h>

// `sums`: NAME=SHA256 of each program, separated by commas; names are below `folder` (`rdsend`, `dynamic/rdrecv`),
// digests 64 lower-case hexadecimal digits. True when every one that would be started is among them, no link, may be
// run, and has these contents. Programs in `dynamic` are started in place of the others where there is such a folder.
bool rd_program_sums_hold(const char *folder, const char *sums);

#endif
