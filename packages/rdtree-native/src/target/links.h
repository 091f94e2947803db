// SPDX-License-Identifier: Apache-2.0
// Hard links, created when all files are in place.
#ifndef RD_TREE_WRITE_LINKS_H
#define RD_TREE_WRITE_LINKS_H

#include "target/deferred.h"
#include "target/directory.h"

// Keeps a LINK entry of a directory for rd_links_run(). Returns false if the list cannot be written.
bool rd_links_add(struct rd_deferred *list, const struct rd_directory *directory, const char *name,
                  const struct rd_entry *entry, struct rd_error *error);
// Creates all links. Returns false if the list cannot be read.
bool rd_links_run(struct rd_write *write, struct rd_deferred *list, struct rd_directory *top, struct rd_error *error);

#endif
