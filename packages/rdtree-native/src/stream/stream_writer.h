// SPDX-License-Identifier: Apache-2.0
// Writes the records of a tree stream to a descriptor, many in one call.
#ifndef RD_TREE_STREAM_WRITER_H
#define RD_TREE_STREAM_WRITER_H

#include "stream/record.h"
#include "stream/ring_writer.h"

struct rd_stream_writer; // opaque

// `fd` stays the caller's. The first record is a HEAD of this phase. Never NULL.
struct rd_stream_writer *rd_stream_writer_create(int fd, enum rd_stream_phase phase);
void rd_stream_writer_destroy(struct rd_stream_writer *writer); // NULL-safe; what was not flushed is lost

// The stream goes into a ring instead of `fd`. `ring` must outlive the writer. Call before the first record.
void rd_stream_write_to(struct rd_stream_writer *writer, struct rd_ring_writer *ring);

// In a SHARE: one more record is left out, which a SKIP will tell before the next one, or with the next flush.
void rd_stream_skip(struct rd_stream_writer *writer);

// False (RD_CODE_SINK_UNWRITABLE; RD_CODE_CLOSED: its reader is gone).
bool rd_stream_put(struct rd_stream_writer *writer, const struct rd_record *record, struct rd_error *error);
// Records that were encoded before.
bool rd_stream_put_encoded(struct rd_stream_writer *writer, const unsigned char *encoded, size_t count,
                           struct rd_error *error);
bool rd_stream_flush(struct rd_stream_writer *writer, struct rd_error *error);

// A DATA record in the ring, whose bytes are still to be written.
struct rd_reserved {
  unsigned char *bytes; // NULL: none
  size_t count;         // with what is before the bytes
};
bool rd_stream_has_ring(const struct rd_stream_writer *writer);
// Reserves a DATA record after all others; nothing else may be put until all that are reserved are committed, in order,
// or cancelled. reserved->bytes is NULL if there is no room before earlier ones are committed. Returns false as
// rd_stream_put().
bool rd_stream_reserve(struct rd_stream_writer *writer, uint64_t offset, size_t count, struct rd_reserved *reserved,
                       struct rd_error *error);
void rd_stream_commit(struct rd_stream_writer *writer, const struct rd_reserved *reserved);
void rd_stream_cancel(struct rd_stream_writer *writer); // all that are not committed

#endif
