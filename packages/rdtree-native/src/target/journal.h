// SPDX-License-Identifier: Apache-2.0
// The mark of a run with temporary files below the target: the next run removes those of a dead one.
#ifndef RD_TREE_WRITE_JOURNAL_H
#define RD_TREE_WRITE_JOURNAL_H

#include "entry/partial_name.h"
#include "target/directory.h"

struct rd_journal; // opaque

// Removes the temporary files that dead runs of this user left below `top`, whose descriptor stays the caller's: walks
// all of it if there is one. Never NULL.
struct rd_journal *rd_journal_open(struct rd_write *write, int top);
// Before a temporary file is made; the first call writes it to the disk. False: errno.
bool rd_journal_begin(struct rd_journal *journal);
bool rd_journal_is_begun(const struct rd_journal *journal); // NULL-safe
// When there are no temporary files of this run. NULL-safe.
void rd_journal_remove(struct rd_journal *journal);

#endif
