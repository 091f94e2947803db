// SPDX-License-Identifier: Apache-2.0
// Hard links, made when all files are in place.
#ifndef RD_TREE_WRITE_LINKS_H
#define RD_TREE_WRITE_LINKS_H

#include "target/deferred.h"
#include "target/directory.h"

// Keeps an entry LINK of a directory for rd_links_run().
bool rd_links_add(struct rd_deferred *list, const struct rd_directory *directory, const char *name,
                  const struct rd_entry *entry, struct rd_error *error);
// Makes all. False: the list cannot be read.
bool rd_links_run(struct rd_write *write, struct rd_deferred *list, struct rd_directory *top, struct rd_error *error);

#endif
