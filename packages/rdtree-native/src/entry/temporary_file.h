// SPDX-License-Identifier: Apache-2.0
// A temporary file without a name, for what would not fit into memory.
#ifndef RD_TREE_TEMPORARY_FILE_H
#define RD_TREE_TEMPORARY_FILE_H

// In $TMPDIR or /tmp; where none can be made there, memory that may be swapped out. -1: errno.
int rd_temporary_file(void);

#endif
