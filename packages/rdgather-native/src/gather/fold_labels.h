// SPDX-License-Identifier: Apache-2.0
// Writes names of hosts as a list that rdpipe reads: n1, n2, n3 and x as n[1-3],x.
#ifndef RD_GATHER_FOLD_LABELS_H
#define RD_GATHER_FOLD_LABELS_H

#include <stddef.h>

// Names that differ only in their last number are joined, in ascending order; others stay as they are. The caller frees
// the text. `count` is at least 1.
char *rd_fold_labels(const char *const *labels, size_t count);

#endif
