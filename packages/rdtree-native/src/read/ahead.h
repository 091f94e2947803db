// SPDX-License-Identifier: Apache-2.0
// The files that are wanted next, and the records between them: small files are read ahead.
#ifndef RD_TREE_AHEAD_H
#define RD_TREE_AHEAD_H

#include "entry/source_dirs.h"
#include "stream/stream_writer.h"

struct rd_ahead; // opaque

// `writer` stays the caller's. Never NULL.
struct rd_ahead *rd_ahead_create(unsigned threads, struct rd_stream_writer *writer);
void rd_ahead_destroy(struct rd_ahead *ahead); // NULL-safe

// BLOCKS: of the file that comes next.
void rd_ahead_keep_blocks(struct rd_ahead *ahead, const struct rd_record *record);
// A file, in the directory that `directories` are at. False: the copy cannot go on; so for all of these.
bool rd_ahead_add(struct rd_ahead *ahead, const struct rd_record *record, struct rd_source_dirs *directories,
                  struct rd_error *error);
// Any other record.
bool rd_ahead_pass(struct rd_ahead *ahead, const struct rd_record *record, struct rd_error *error);
bool rd_ahead_send_all(struct rd_ahead *ahead, struct rd_error *error);
// All, and END, with the failures.
bool rd_ahead_end(struct rd_ahead *ahead, const struct rd_record *record, struct rd_error *error);

#endif
