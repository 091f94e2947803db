// SPDX-License-Identifier: Apache-2.0
// The list of directories in which a run has temporary files, for the run after one that was killed.
#ifndef RD_TREE_WRITE_JOURNAL_H
#define RD_TREE_WRITE_JOURNAL_H

#include "entry/partial_name.h"
#include "target/directory.h"

struct rd_journal; // opaque

// Removes the temporary files that runs before have left below `top`, whose descriptor stays the caller's. Never NULL.
struct rd_journal *rd_journal_open(struct rd_write *write, int top);
// Before the first temporary file in a directory. False: errno.
bool rd_journal_add(struct rd_journal *journal, struct rd_directory *directory);
bool rd_journal_is_begun(const struct rd_journal *journal); // it was written to; NULL-safe
// When there are no temporary files of this run. NULL-safe.
void rd_journal_remove(struct rd_journal *journal);

#endif
