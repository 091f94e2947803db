// SPDX-License-Identifier: Apache-2.0
// Checks that the target names only what the user asked for, and follows it through the source.
#ifndef RD_TREE_NAMED_H
#define RD_TREE_NAMED_H

#include "entry/source_dirs.h"
#include "setup/settings.h"

struct rd_named; // opaque

// Returns NULL if a pattern is invalid.
struct rd_named *rd_named_create(const struct rd_tree_settings *settings, struct rd_error *error);
void rd_named_destroy(struct rd_named *named); // NULL-safe

// Call for each record in turn. Returns false (RD_CODE_NOT_REQUESTED) if the record names anything else, by the rules
// of rd_request_check(), or with -x a file on another file system.
bool rd_named_check(struct rd_named *named, const struct rd_record *record, struct rd_error *error);
// At depth 0: goes to a source. Returns false (RD_CODE_NOT_REQUESTED) if there is no source of that number.
bool rd_named_begin(struct rd_named *named, uint32_t source, struct rd_error *error);
// The current directory is the one that the records so far have led to.
struct rd_source_dirs *rd_named_directories(struct rd_named *named);

#endif
