// SPDX-License-Identifier: Apache-2.0
// The content of a file from the source on the same host: a clone, or a copy by the kernel.
#ifndef RD_TREE_WRITE_COPIER_H
#define RD_TREE_WRITE_COPIER_H

#include "entry/source_dirs.h"
#include "target/target_file.h"

struct rd_copier; // opaque: follows the stream through the directories of the source

struct rd_copier *rd_copier_create(struct rd_write *write); // never NULL
void rd_copier_destroy(struct rd_copier *copier);           // NULL-safe

void rd_copier_enter(struct rd_copier *copier, const struct rd_entry *entry);
void rd_copier_leave(struct rd_copier *copier);
// Copies `entry` of the directory at hand, on another thread. Takes the file.
void rd_copier_copy(struct rd_copier *copier, const struct rd_entry *entry, struct rd_target_file *file);

#endif
