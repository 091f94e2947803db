// SPDX-License-Identifier: Apache-2.0
// An unnamed temporary file for data that would not fit in memory.
#ifndef RD_TREE_TEMPORARY_FILE_H
#define RD_TREE_TEMPORARY_FILE_H

// Creates the file in $TMPDIR or /tmp; if that fails, in memory, which may be swapped out. Returns -1 with errno.
int rd_temporary_file(void);

#endif
