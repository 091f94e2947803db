// SPDX-License-Identifier: Apache-2.0
// The content of a file as it comes: gathered where it is small, else written by several threads.
#ifndef RD_TREE_WRITE_INCOMING_H
#define RD_TREE_WRITE_INCOMING_H

#include "stream/stream_reader.h"
#include "target/target_file.h"

// One thread calls these for a file, in the order of its records. Until rd_incoming_end() the file is the caller's.

// Continues with what is there of an interrupted copy. `file` was not begun otherwise.
void rd_incoming_resume(struct rd_target_file *file, const struct rd_blocks *blocks);
// `bytes` are those of the reader's last record. Keeps its buffer if they are many.
void rd_incoming_add(struct rd_target_file *file, uint64_t offset, struct rd_bytes bytes,
                     struct rd_stream_reader *reader);
// Forgets all that came.
void rd_incoming_restart(struct rd_target_file *file);
// Its metadata, digest and size are those of `end`. Takes the file.
void rd_incoming_end(struct rd_target_file *file, const struct rd_file_end *end);
// It cannot be had: takes the file, and removes it.
void rd_incoming_drop(struct rd_target_file *file);
// The copy ends before the file does: takes it; as a partial file, with all that came, it may stay.
void rd_incoming_abandon(struct rd_target_file *file);

#endif
