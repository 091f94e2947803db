// SPDX-License-Identifier: Apache-2.0
// The check that the programs beside this one are those that rdpipe copied here.
#ifndef RD_STAGE_PROGRAM_SUMS_H
#define RD_STAGE_PROGRAM_SUMS_H

#include <stdbool.h>

// `sums`: NAME=SHA256 of each program, separated by commas; names are below `directory` (`rdhop`, `dynamic/rdtree`),
// digests 64 lower-case hexadecimal digits. True when each program that would be started is in the list, is an
// executable file and no link, and has that digest. Where there is a directory `dynamic`, its programs would be
// started, not the others.
bool rd_program_sums_hold(const char *directory, const char *sums);

#endif
