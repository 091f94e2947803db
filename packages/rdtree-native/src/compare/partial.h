// SPDX-License-Identifier: Apache-2.0
// Partial files: the digests of what an interrupted copy left of a large file.
#ifndef RD_TREE_PARTIAL_H
#define RD_TREE_PARTIAL_H

#include "report/events.h"
#include "stream/record.h"

struct rd_partial {
  struct rd_blocks blocks;
  unsigned char *digests; // those of `blocks`; the caller frees it with free()
};

// Digests what is left of `record`, a FILE of this name in the directory, with several threads; `progress` and `path`
// are for events meanwhile. False: there is nothing that can be used.
bool rd_partial_find(struct rd_partial *partial, const struct rd_entry *entry, int directory_fd, const char *name,
                     unsigned threads, const struct rd_tree_totals *progress, const char *path);

// A regular file that no run works on; false too if that cannot be found out.
bool rd_partial_is_free(int directory_fd, const char *partial_name);

#endif
