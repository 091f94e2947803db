// SPDX-License-Identifier: Apache-2.0
// Checks that the programs in this program's directory are the ones that rdpipe copied there.
#ifndef RD_STAGE_PROGRAM_SUMS_H
#define RD_STAGE_PROGRAM_SUMS_H

#include <stdbool.h>

// `sums`: NAME=SHA256 of each program, separated by commas; names are below `directory` (`rdhop`, `dynamic/rdtree`),
// digests have 64 lower-case hexadecimal digits. Returns true if each program that would be started is in the list, is
// an executable file and not a link, and has that digest. If there is a directory `dynamic`, its programs would be
// started, not the others.
bool rd_program_sums_hold(const char *directory, const char *sums);

#endif
