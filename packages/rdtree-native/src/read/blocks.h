// SPDX-License-Identifier: Apache-2.0
// Compares what the target has of a file from an interrupted copy with the file, block by block.
#ifndef RD_TREE_BLOCKS_H
#define RD_TREE_BLOCKS_H

#include "read/wanted_file.h"

// The number of whole blocks, from the beginning of the open file on, that are the same on both sides; several threads
// read them. A read error is the file's `number`.
uint64_t rd_blocks_verify(struct rd_threads *threads, struct rd_wanted_file *file);

#endif
