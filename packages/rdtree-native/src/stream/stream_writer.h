// SPDX-License-Identifier: Apache-2.0
// Writes the records of a tree stream to a descriptor, many in one call.
#ifndef RD_TREE_STREAM_WRITER_H
#define RD_TREE_STREAM_WRITER_H

#include "stream/record.h"

struct rd_stream_writer; // opaque

// `fd` stays the caller's. The first record is a HEAD of this phase. Never NULL.
struct rd_stream_writer *rd_stream_writer_create(int fd, enum rd_stream_phase phase);
void rd_stream_writer_destroy(struct rd_stream_writer *writer); // NULL-safe; what was not flushed is lost

// In a SHARE: one more record is left out, which a SKIP will tell before the next one, or with the next flush.
void rd_stream_skip(struct rd_stream_writer *writer);

// False (RD_CODE_SINK_UNWRITABLE; RD_CODE_CLOSED: its reader is gone).
bool rd_stream_put(struct rd_stream_writer *writer, const struct rd_record *record, struct rd_error *error);
// Records that were encoded before.
bool rd_stream_put_encoded(struct rd_stream_writer *writer, const unsigned char *encoded, size_t count,
                           struct rd_error *error);
bool rd_stream_flush(struct rd_stream_writer *writer, struct rd_error *error);

// Puts a DATA record, whose pages a pipe takes instead of a copy: its bytes must not change until rd_stream_taken()
// reaches *until. They may be unmapped.
bool rd_stream_lend(struct rd_stream_writer *writer, const struct rd_record *record, uint64_t *until,
                    struct rd_error *error);
// Returns how many bytes of the stream its reader has.
uint64_t rd_stream_taken(const struct rd_stream_writer *writer);

#endif
