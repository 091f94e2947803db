// SPDX-License-Identifier: Apache-2.0
// Reads the records of a tree stream from a descriptor, and checks that each may come where it comes.
#ifndef RD_TREE_STREAM_READER_H
#define RD_TREE_STREAM_READER_H

#include "stream/record.h"
#include "stream/ring_reader.h"
#include "stream/stream_writer.h"

struct rd_stream_reader; // opaque

// `fd` stays the caller's. `output`, which may be NULL, is flushed before each wait for more: what a program has made
// of its input so far must not wait for the rest. Never NULL.
struct rd_stream_reader *rd_stream_reader_create(int fd, enum rd_stream_phase phase, struct rd_stream_writer *output);
void rd_stream_reader_destroy(struct rd_stream_reader *reader); // NULL-safe

// The stream comes in a ring instead of `fd`. The contents of files are then used there, all else is copied. `ring`
// must outlive the reader. Call before the first record.
void rd_stream_read_from(struct rd_stream_reader *reader, struct rd_ring_reader *ring);
// Returns what the bytes of the last record, a DATA, are held by, until the caller gives them back. NULL: they are in
// no ring, or too many are held.
struct rd_ring_hold *rd_stream_hold(struct rd_stream_reader *reader);

// WANTS may come, for so many targets.
void rd_stream_expect_wants(struct rd_stream_reader *reader, unsigned width);

// The next record, until END, after which nothing may be read; the HEAD is the reader's own affair. Its bytes stay
// valid until the next call. False: the input cannot be read (RD_CODE_SOURCE_UNREADABLE), has ended before END
// (RD_CODE_PEER_LOST), is damaged (RD_CODE_DATA_DAMAGED), or the output could not be flushed.
bool rd_stream_next(struct rd_stream_reader *reader, struct rd_record *record, struct rd_error *error);

// The next record is here: rd_stream_next() will not wait for it.
bool rd_stream_is_ready(const struct rd_stream_reader *reader);

// The HEAD has come, and is one of a tree stream.
bool rd_stream_has_begun(const struct rd_stream_reader *reader);

// After END: flushes the output, and waits for the end of the input, which comes only when all programs before this one
// have ended well (docs/protocol/wire.md, section 1.4). False as rd_stream_next(); bytes after END are damage.
bool rd_stream_finish(struct rd_stream_reader *reader, struct rd_error *error);

// The directories that have been entered and not left; 0: at the target directory itself.
unsigned rd_stream_depth(const struct rd_stream_reader *reader);

#endif
