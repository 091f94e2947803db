// SPDX-License-Identifier: Apache-2.0
// Marks a run with temporary files below the target: the next run removes those of a dead one.
#ifndef RD_TREE_WRITE_JOURNAL_H
#define RD_TREE_WRITE_JOURNAL_H

#include "entry/partial_name.h"
#include "target/directory.h"

struct rd_journal; // opaque

// Removes the temporary files that dead runs of this user left below `top`: walks the complete tree if there was such a
// run. The caller keeps `top`. Never returns NULL.
struct rd_journal *rd_journal_open(struct rd_write *write, int top);
// Call before creating a temporary file; the first call writes the journal to the disk, or warns if this user may not
// write there. Returns false, with errno, on other errors.
bool rd_journal_begin(struct rd_journal *journal);
bool rd_journal_is_begun(const struct rd_journal *journal); // NULL-safe
// Removes the journal and frees it; call when this run has no more temporary files. NULL-safe.
void rd_journal_remove(struct rd_journal *journal);

#endif
