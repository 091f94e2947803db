// SPDX-License-Identifier: Apache-2.0
// Follows a tree stream through the directories of the target, and starts what each record asks for.
#ifndef RD_TREE_WRITE_FOLLOWER_H
#define RD_TREE_WRITE_FOLLOWER_H

#include "stream/stream_reader.h"
#include "target/deferred.h"
#include "target/directory.h"
#include "target/journal.h"

// The work that is left for the end of the copy.
struct rd_later {
  struct rd_directory *top; // NULL: there was no entry
  struct rd_journal *journal;
  struct rd_deferred *links, *removals, *directories;
};

struct rd_follower; // opaque

// Never NULL. `later` is the caller's, who destroys what it has. The records are those of `reader`.
struct rd_follower *rd_follower_create(struct rd_write *write, struct rd_later *later, struct rd_stream_reader *reader);
// Leaves the directories that are still open, and abandons the open file. NULL-safe.
void rd_follower_destroy(struct rd_follower *follower);

// Every record but END. False: the copy cannot continue.
bool rd_follower_take(struct rd_follower *follower, const struct rd_record *record, struct rd_error *error);
// Of the directory that the records have led to, for *at() calls; -1: it is not open.
int rd_follower_directory(const struct rd_follower *follower);
// A `progress` event where one is due.
void rd_follower_progress(struct rd_follower *follower);

#endif
